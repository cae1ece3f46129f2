import type { MachineMount } from "../../sandbox-runtime.js";

/** The uids of a machine, as the host sees them. */
export interface MountUids {
  /** Uid of the machine's code. */
  readonly code: number;
  /** The number of the machine's uids, which begin at `code`. */
  readonly count: number;
  /** Uid that stands for the host's root in a directory of root. Undefined if root has no rights in the machine by its uid. */
  readonly root: number | undefined;
  /** Whether files of others than the directory's owner have ids too. */
  readonly mapsOthers: boolean;
}

/** The first of the ids that files of others have, and their number. No process has any of them, nor does a machine's user namespace. */
const others = { first: 3 * 2 ** 30, count: 2 ** 29 };

/**
 * The arguments of `openMount` in `open-mount.pl`: device, path, identity, maps of uids and gids with a comma between their lines,
 * and whether it is read-only. `uids` is undefined if this process may not map uids; code's uid is the owner's then.
 */
export function sourceFields({ source, readOnly }: MachineMount, uids: MountUids | undefined): string[] {
  const mode = readOnly ? "1" : "";
  if ("device" in source) {
    const map = `0 ${uids?.code} ${uids?.count}`;
    return [source.device, "", "", map, map, mode];
  }
  const { path, identity, owner } = source;
  const fields = (uidMap: string, gidMap: string): string[] => ["", path, identity, uidMap, gidMap, mode];
  if (uids === undefined) return fields("", "");
  const map = (id: number, inside: number): string =>
    [`${id} ${inside} 1`, ...(uids.mapsOthers ? othersThan(id) : [])].join(",");
  if (owner.uid !== 0)
    return fields(map(owner.uid, uids.code), map(owner.gid === 0 ? owner.uid : owner.gid, uids.code));
  // Nothing inside may act as root of the host.
  return uids.root === undefined ? fields("", "") : fields(map(0, uids.root), map(0, uids.root));
}

/**
 * Maps all ids but one. The kernel lets nobody change, move or remove a file that has an id without a place in the map, not even the
 * owner of its directory.
 */
function othersThan(id: number): string[] {
  const line = (from: number, to: number): string[] =>
    from < to ? [`${from} ${others.first + from} ${to - from}`] : [];
  return [...line(0, Math.min(id, others.count)), ...line(id + 1, others.count)];
}
