import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { checkKnown } from "../config/known-options.js";
import { checkBoolean, requireText } from "../config/option-checks.js";
import { invalidArgument } from "../errors/errors.js";
import type { VolumeRecord } from "./volume-record.js";

/** A volume, by its name, its id or its record, and how it is mounted. */
export interface VolumeMount {
  volume: string | Pick<VolumeRecord, "id">;
  /** Whether the sandbox can only read it. Default: false. */
  readOnly?: boolean | undefined;
}

/** What a sandbox mounts, by its path in the sandbox, as `/data`. */
export type Mounts = Readonly<Record<string, Pick<VolumeRecord, "id"> | VolumeMount>>;

/** The mounts as a create request has them. */
export function mountsOnWire(mounts: Mounts): ControlPlaneSchemas["Mounts"] {
  const entries = Object.entries(mounts).map(([path, mount]) => {
    if (typeof mount !== "object" || mount === null)
      throw invalidArgument(`mounts["${path}"] must be a volume, or an object with a volume.`);
    if ("id" in mount) return [path, { volume: mount.id }] as const;
    checkKnown(`mounts["${path}"]`, mount, { volume: true, readOnly: true });
    const { readOnly, volume } = mount;
    const name = typeof volume === "object" && volume !== null ? volume.id : volume;
    requireText(`mounts["${path}"].volume`, name);
    checkBoolean(`mounts["${path}"].readOnly`, readOnly);
    return [path, { volume: name, ...(readOnly !== undefined && { read_only: readOnly }) }] as const;
  });
  return Object.fromEntries(entries);
}
