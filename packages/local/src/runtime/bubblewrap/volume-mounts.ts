import { join } from "node:path";
import type { Mount } from "../host/mount.js";
import { type MountUids, sourceFields } from "../host/mounts/mount-source.js";
import openMount from "../host/mounts/open-mount.pl?raw";
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
    source: join(at, volumePlace(index)),
    target,
    readOnly,
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
  // All processes of the machine have other uids than the host's root.
  const mapped: MountUids | undefined = uids && {
    code: uids.code,
    count: uids.isRange ? rangeSize : 1,
    root: undefined,
  };
  const fields = volumes.flatMap((mount, index) => {
    const { target } = mount;
    const [inside, tree] = trees.find(([parent]) => target.startsWith(parent)) ?? ["/", root];
    return [volumePlace(index), tree, target.slice(inside.length), ...sourceFields(mount, mapped)];
  });
  return {
    MACHINE_MOUNTER: `${mapIds}${openMount}${mountVolumes}\nmountVolumes($ENV{MACHINE_ARCHITECTURE}, split /\\n/, $ENV{MACHINE_VOLUMES}, -1);`,
    MACHINE_ARCHITECTURE: process.arch,
    MACHINE_VOLUMES: [uids?.code ?? 0, ...fields].join("\n"),
  };
}
