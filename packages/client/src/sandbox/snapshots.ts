import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { type CallOptions, callInit, identifier } from "../config/options.js";
import { NotFoundError } from "../errors/errors.js";
import { date } from "../transport/answer-fields.js";
import { type ControlPlaneClient, readBody, successOf } from "../transport/contract-clients.js";

/** The files of a sandbox as they were at one moment. */
export interface SnapshotRecord {
  id: string;
  name: string | undefined;
  metadata: Readonly<Record<string, string>>;
  /** The sandbox whose files it has. */
  sandboxId: string | undefined;
  template: string | undefined;
  /** Bytes that it takes on the server's disk. */
  sizeBytes: number | undefined;
  createdAt: Date | undefined;
  /** Whether the sandbox stood still while its files were read. If not, files that changed meanwhile may be torn. */
  consistent: boolean;
  /** What it keeps of a sandbox: its files, environment variables, variables of interpreters, and processes. */
  kept: { files: boolean; environment: boolean; variables: boolean; processes: boolean };
}

/** Options of `sandbox.snapshot`. */
export interface SnapshotOptions extends CallOptions {
  /** A name of your own, at most 128 characters. One that another snapshot has is a `ConflictError`. */
  name?: string | undefined;
  /** Labels: any keys and values of your own. */
  metadata?: Readonly<Record<string, string>> | undefined;
}

/** Options of `sandbox.fork`. */
export interface ForkOptions extends CallOptions {
  /** How many sandboxes to make, 1 to 100. Default: 1. */
  count?: number | undefined;
  /** Lifetime of each in seconds, a whole number from 1 to 86,400. Default: that of the forked sandbox. */
  timeoutSeconds?: number | undefined;
}

/** A snapshot, by its id, its name or its record. */
export type SnapshotReference = string | Pick<SnapshotRecord, "id">;

/**
 * Lists, gets and deletes snapshots; `sandbox.snapshot()` takes one, and `sandboxes.create({ snapshot })` begins with it. An extension:
 * a server without snapshots throws a `NotFoundError`.
 */
export class Snapshots {
  readonly #controlPlane: ControlPlaneClient;

  /** @internal */
  static of(controlPlane: ControlPlaneClient): Snapshots {
    return new Snapshots(controlPlane);
  }

  private constructor(controlPlane: ControlPlaneClient) {
    this.#controlPlane = controlPlane;
  }

  /** Lists the snapshots of the account, newest first (GET /v1/snapshots). */
  async list(options?: CallOptions): Promise<SnapshotRecord[]> {
    const pending = this.#controlPlane.GET("/v1/snapshots", callInit(options));
    return readBody(pending, ({ data }) => data.map(snapshotRecord), "data");
  }

  /** Gets a snapshot by id or name (GET /v1/snapshots/{id}). */
  async get(idOrName: string, options?: CallOptions): Promise<SnapshotRecord> {
    const init = { ...pathOf(idOrName), ...callInit(options) };
    return readBody(this.#controlPlane.GET("/v1/snapshots/{id}", init), snapshotRecord, "id");
  }

  /**
   * Deletes a snapshot, by id or name (DELETE /v1/snapshots/{id}). Sandboxes that began with it stay as they are. Succeeds if there is
   * no such snapshot.
   */
  async delete(idOrName: string, options?: CallOptions): Promise<void> {
    const init = { ...pathOf(idOrName), ...callInit(options) };
    try {
      await successOf(this.#controlPlane.DELETE("/v1/snapshots/{id}", init));
    } catch (error) {
      if (!(error instanceof NotFoundError && error.code === "SNAPSHOT_NOT_FOUND")) throw error;
    }
  }
}

/** The id or name of a snapshot. */
export function snapshotName(snapshot: SnapshotReference): string {
  const isRecord = typeof snapshot === "object" && snapshot !== null;
  return identifier("snapshot", isRecord ? snapshot.id : snapshot);
}

const pathOf = (idOrName: string) => ({ params: { path: { id: identifier("snapshot", idOrName) } } });

/** The facts about a snapshot in an answer. */
export function snapshotRecord(wire: ControlPlaneSchemas["Snapshot"]): SnapshotRecord {
  const { files = true, environment = false, variables = false, processes = false } = wire.kept ?? {};
  return {
    id: wire.id,
    name: wire.name,
    metadata: wire.metadata ?? {},
    sandboxId: wire.sandbox_id,
    template: wire.template_name,
    sizeBytes: wire.size_bytes,
    createdAt: date(wire.created_at),
    consistent: wire.consistent ?? false,
    kept: { files, environment, variables, processes },
  };
}
