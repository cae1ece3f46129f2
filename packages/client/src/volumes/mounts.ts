import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { checkBoolean, checkKnown, requireText } from "../config/options.js";
import { invalidArgument } from "../errors/errors.js";
import type { VolumeRecord } from "./volume-record.js";

/** A volume, by its name, its id or its record, and how it is mounted. */
export interface VolumeMount {
  volume: string | Pick<VolumeRecord, "id">;
  /** Whether the sandbox can only read it. Default: false. */
  readOnly?: boolean | undefined;
}

/** A directory of the server's machine, and how it is mounted. Whoever runs the server decides which directories may be mounted. */
export interface HostMount {
  /** The absolute path of the directory. No part of it may be a link. */
  host: string;
  /** Whether the sandbox can only read it. Default: false. */
  readOnly?: boolean | undefined;
}

/** What a sandbox mounts, by its path in the sandbox, as `/data`. */
export type Mounts = Readonly<Record<string, Pick<VolumeRecord, "id"> | VolumeMount | HostMount>>;

/** The mounts as a create request has them. */
export function mountsOnWire(mounts: Mounts): ControlPlaneSchemas["Mounts"] {
  return Object.fromEntries(
    Object.entries(mounts).map(([path, mount]) => [path, mountOnWire(`mounts["${path}"]`, mount)]),
  );
}

function mountOnWire(what: string, mount: Mounts[string]): ControlPlaneSchemas["Mount"] {
  if (typeof mount !== "object" || mount === null)
    throw invalidArgument(`${what} must be a volume, or an object with a volume or a host.`);
  if ("id" in mount) return { volume: mount.id };
  const { readOnly } = mount;
  checkBoolean(`${what}.readOnly`, readOnly);
  const mode = readOnly === undefined ? {} : { read_only: readOnly };
  if ("host" in mount) {
    checkKnown(what, mount, { host: true, readOnly: true });
    requireText(`${what}.host`, mount.host);
    return { host: mount.host, ...mode };
  }
  checkKnown(what, mount, { volume: true, readOnly: true });
  const { volume } = mount;
  const name = typeof volume === "object" && volume !== null ? volume.id : volume;
  requireText(`${what}.volume`, name);
  return { volume: name, ...mode };
}
