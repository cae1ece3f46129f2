import { join } from "node:path";
import type { Mount } from "../host/mount.js";
import { type MachineUids, rangeSize } from "../host/uid-lease.js";
import type { MachineMount } from "../sandbox-runtime.js";
import mapIds from "./launch/map-ids.pl?raw";
import mountVolumes from "./launch/mount-volumes.pl?raw";

/** A mount of a volume, which bubblewrap makes. */
export interface VolumeMount extends Mount {
  readonly readOnly: boolean;
}

/** Where volumes are mounted before bubblewrap starts, relative to the place of the machine's mounts. */
const volumePlace = (index: number): string => `volume-${index}`;

/** The mounts that bubblewrap makes of a machine's volumes. `at` is the place of the machine's mounts. */
export function volumeMounts(at: string, volumes: readonly MachineMount[]): readonly VolumeMount[] {
  return volumes.map(({ target, readOnly }, index) => ({
    ...{ source: join(at, volumePlace(index)), target, readOnly },
  }));
}

/** The variables with which the shell mounts volumes and makes the directories that bubblewrap mounts them at. */
export function volumeVariables(
  { root, workspace, home }: Readonly<Record<"root" | "workspace" | "home", string>>,
  uids: MachineUids | undefined,
  volumes: readonly MachineMount[],
): Readonly<Record<string, string>> {
  const trees = [
    ["/workspace/", workspace],
    ["/home/sandbox/", home],
  ] as const;
  const fields = volumes.flatMap(({ source, target }, index) => {
    const [inside, tree] = trees.find(([parent]) => target.startsWith(parent)) ?? ["/", root];
    return [...sourceFields(source, uids), volumePlace(index), tree, target.slice(inside.length)];
  });
  return {
    MACHINE_MOUNTER: `${mapIds}${mountVolumes}\nmountVolumes($ENV{MACHINE_ARCHITECTURE}, split /\\n/, $ENV{MACHINE_VOLUMES});`,
    MACHINE_ARCHITECTURE: process.arch,
    MACHINE_VOLUMES: [uids?.code ?? 0, ...fields].join("\n"),
  };
}

/** Device, path, identity, and maps of uids and gids. Where root started this process, code's uid is the owner's. */
function sourceFields(source: MachineMount["source"], uids: MachineUids | undefined): string[] {
  if ("device" in source) {
    const map = `0 ${uids?.code} ${uids?.isRange ? rangeSize : 1}`;
    return [source.device, "", "", map, map];
  }
  const { path, identity, owner } = source;
  // Nothing inside may act as root of the host.
  if (uids === undefined || owner.uid === 0) return ["", path, identity, "", ""];
  const map = (id: number): string => `${id} ${uids.code} 1`;
  return ["", path, identity, map(owner.uid), map(owner.gid === 0 ? owner.uid : owner.gid)];
}
