import type { MachineMount } from "../../sandbox-runtime.js";

/** The uids of a machine, as the host sees them. */
export interface MountUids {
  /** Uid of the machine's code. */
  readonly code: number;
  /** The number of the machine's uids, which begin at `code`. */
  readonly count: number;
  /** Uid that stands for the host's root in a directory of root. Undefined if root has no rights in the machine by its uid. */
  readonly root: number | undefined;
}

/**
 * The arguments of `openMount` in `open-mount.pl`: device, path, identity, maps of uids and gids, and whether it is
 * read-only. `uids` is undefined if this process may not map uids; code's uid is the owner's then.
 */
export function sourceFields({ source, readOnly }: MachineMount, uids: MountUids | undefined): string[] {
  const mode = readOnly ? "1" : "";
  if ("device" in source) {
    const map = `0 ${uids?.code} ${uids?.count}`;
    return [source.device, "", "", map, map, mode];
  }
  const { path, identity, owner } = source;
  const fields = (uidMap: string, gidMap: string): string[] => ["", path, identity, uidMap, gidMap, mode];
  const map = (id: number, inside: number): string => `${id} ${inside} 1`;
  if (uids === undefined) return fields("", "");
  if (owner.uid !== 0)
    return fields(map(owner.uid, uids.code), map(owner.gid === 0 ? owner.uid : owner.gid, uids.code));
  // Nothing inside may act as root of the host.
  return uids.root === undefined ? fields("", "") : fields(map(0, uids.root), map(0, uids.root));
}
