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

/** The directory of a machine's disk with what it writes to its copies of directories of the host. */
export const copiesName = "copies";

/** The places of a copied directory. `own` is the part of the machine's disk that has its own files. */
export function copyPlaces(at: string, own: string, mounts: readonly MachineMount[], target: string) {
  const index = mounts.findIndex((mount) => mount.target === target && mount.isCopy === true);
  if (index === -1) throw new Error(`nothing is copied to ${target}`);
  return {
    merged: join(at, volumePlace(index)),
    lower: join(at, `${volumePlace(index)}-lower`),
    upper: join(own, copiesName, String(index)),
  };
}

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
  /** The machine's own files, relative to the place of its mounts. */
  own: string,
  overlay: string,
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
    mapsOthers: true,
  };
  const fields = volumes.flatMap((mount, index) => {
    const { target } = mount;
    const [inside, tree] = trees.find(([parent]) => target.startsWith(parent)) ?? ["/", root];
    const path = target.slice(inside.length);
    if (!mount.isCopy) return [volumePlace(index), tree, path, "", ...sourceFields(mount, mapped)];
    // Nothing is written through this mount, so that code may have root's files as its own too. Files of others are copied with their
    // ids, for which a disk that maps ids has no place.
    const asCode = mapped && { ...mapped, root: mapped.code, mapsOthers: mapped.count === 1 };
    const source = sourceFields({ ...mount, readOnly: true }, asCode);
    return [volumePlace(index), tree, path, String(index), ...source];
  });
  return {
    MACHINE_MOUNTER: `${mapIds}${openMount}${mountVolumes}\nmountVolumes($ENV{MACHINE_ARCHITECTURE}, split /\\n/, $ENV{MACHINE_VOLUMES}, -1);`,
    MACHINE_ARCHITECTURE: process.arch,
    MACHINE_VOLUMES: [uids?.code ?? 0, own, overlay, ...fields].join("\n"),
  };
}
