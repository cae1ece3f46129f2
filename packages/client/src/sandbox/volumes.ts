import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import {
  type CallOptions,
  callInit,
  callOptionNames,
  checkBoolean,
  checkKnown,
  checkOneOf,
  checkWhole,
  identifier,
  omitUndefined,
  requestInit,
  requireText,
} from "../config/options.js";
import { invalidArgument, NotFoundError } from "../errors/errors.js";
import { date } from "../transport/answer-fields.js";
import { type ControlPlaneClient, readBody, successOf } from "../transport/contract-clients.js";

/** A directory that sandboxes mount and that outlives them. */
export interface VolumeRecord {
  id: string;
  name: string;
  /** Size of its file system in MiB. */
  sizeMb: number | undefined;
  /** Bytes that it takes on the server's disk. */
  usedBytes: number | undefined;
  /** The sandboxes that mount it, stopped ones included: their names, or else their ids. */
  sandboxes: string[];
  createdAt: Date | undefined;
}

function volumeRecord(wire: ControlPlaneSchemas["Volume"]): VolumeRecord {
  return {
    id: wire.id,
    name: wire.name,
    sizeMb: wire.size_mb,
    usedBytes: wire.used_bytes,
    sandboxes: wire.sandboxes ?? [],
    createdAt: date(wire.created_at),
  };
}

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
  /**
   * `copy`: the sandbox may write, and the directory stays as it is until `sandbox.apply()`. What others change in the directory is seen
   * in the sandbox, unless the sandbox has written the file. Only with the runtime bubblewrap. Default: `direct`.
   */
  mode?: "direct" | "copy" | undefined;
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
    checkKnown(what, mount, { host: true, readOnly: true, mode: true });
    requireText(`${what}.host`, mount.host);
    checkOneOf(`${what}.mode`, mount.mode, ["direct", "copy"]);
    return omitUndefined({ host: mount.host, read_only: readOnly, mode: mount.mode });
  }
  checkKnown(what, mount, { volume: true, readOnly: true });
  const { volume } = mount;
  const name = typeof volume === "object" && volume !== null ? volume.id : volume;
  requireText(`${what}.volume`, name);
  return { volume: name, ...mode };
}

/** Options of `volumes.create`. */
export interface CreateVolumeOptions extends CallOptions {
  /** Size of its file system in MiB, a whole number from 16 to 1,048,576. Default: 1,024. */
  sizeMb?: number | undefined;
}

/**
 * Creates, lists and deletes volumes: directories that sandboxes mount and that outlive them. The local backend and
 * cloud-sandbox-local have them with the runtimes bubblewrap and docker, if root started them. Elsewhere `create` throws a
 * `ValidationError` (VOLUMES_UNAVAILABLE), or a `NotFoundError` if the server does not know volumes.
 */
export class Volumes {
  readonly #controlPlane: ControlPlaneClient;

  /** @internal */
  static of(controlPlane: ControlPlaneClient): Volumes {
    return new Volumes(controlPlane);
  }

  private constructor(controlPlane: ControlPlaneClient) {
    this.#controlPlane = controlPlane;
  }

  /**
   * Creates a volume (POST /v1/volumes). A name that the account has already is a `ConflictError`.
   *
   * ```ts
   * const cache = await client.volumes.create("cache", { sizeMb: 4096 });
   * await using sandbox = await client.sandboxes.create({ mounts: { "/data": cache } });
   * ```
   */
  async create(name: string, options: CreateVolumeOptions = {}): Promise<VolumeRecord> {
    checkKnown("volumes.create", options, { ...callOptionNames, sizeMb: true });
    const { sizeMb } = options;
    requireText("name", name);
    checkWhole("sizeMb", sizeMb, 16, 1_048_576);
    const init = { body: { name, ...omitUndefined({ size_mb: sizeMb }) }, ...requestInit(options) };
    return readBody(this.#controlPlane.POST("/v1/volumes", init), volumeRecord, "id", "name");
  }

  /** Lists the volumes of the account, the oldest first (GET /v1/volumes). */
  async list(options?: CallOptions): Promise<VolumeRecord[]> {
    const pending = this.#controlPlane.GET("/v1/volumes", callInit(options));
    return readBody(pending, ({ data }) => data.map(volumeRecord), "data");
  }

  /** Gets a volume by name or id (GET /v1/volumes/{id}). */
  async get(nameOrId: string, options?: CallOptions): Promise<VolumeRecord> {
    const init = { params: { path: { id: identifier("volume", nameOrId) } }, ...callInit(options) };
    return readBody(this.#controlPlane.GET("/v1/volumes/{id}", init), volumeRecord, "id", "name");
  }

  /**
   * Deletes a volume and its files, by name or id (DELETE /v1/volumes/{id}). A volume that a sandbox mounts, also a stopped
   * one, is a `ConflictError` that names the sandboxes. Succeeds if the volume does not exist.
   */
  async delete(nameOrId: string, options?: CallOptions): Promise<void> {
    const init = { params: { path: { id: identifier("volume", nameOrId) } }, ...callInit(options) };
    try {
      await successOf(this.#controlPlane.DELETE("/v1/volumes/{id}", init));
    } catch (error) {
      if (!(error instanceof NotFoundError && error.code === "VOLUME_NOT_FOUND")) throw error;
    }
  }
}
