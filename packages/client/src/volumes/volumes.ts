import {
  type CallOptions,
  callInit,
  callOptionNames,
  checkKnown,
  checkWhole,
  identifier,
  omitUndefined,
  requestInit,
  requireText,
} from "../config/options.js";
import { NotFoundError } from "../errors/errors.js";
import { type ControlPlaneClient, readBody, successOf } from "../transport/contract-clients.js";
import { type VolumeRecord, volumeRecord } from "./volume-record.js";

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
