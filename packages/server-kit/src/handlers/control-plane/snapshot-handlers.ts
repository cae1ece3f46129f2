import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import type { ControlPlaneContract } from "../../generated/control-plane-contract.js";
import type { Exchange, NodeExchange } from "../../http/exchange.js";
import { Problem } from "../../http/problem.js";
import type { Handlers } from "../../router/handlers.js";

/** The facts about a snapshot that callers may see. */
export interface SnapshotFacts {
  readonly id: string;
  readonly name: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  /** The sandbox whose files it has. */
  readonly sandboxId: string;
  readonly template: { readonly name: string };
  readonly sizeBytes: number;
  readonly createdAt: Date;
  /** Whether the sandbox stood still while its files were read. */
  readonly isConsistent: boolean;
}

export interface SnapshotRequest {
  readonly name: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
}

/** The snapshots that one caller sees. Its methods throw a problem if the operation is not possible. */
export interface SnapshotShelf {
  /** Why there are none, in a sentence. Undefined if there are. */
  readonly lack: string | undefined;
  list(): readonly SnapshotFacts[];
  get(idOrName: string): SnapshotFacts;
  take(sandboxId: string, request: SnapshotRequest): Promise<SnapshotFacts>;
  delete(idOrName: string): Promise<SnapshotFacts>;
}

/** The operations on snapshots. */
export function snapshotHandlers<Over extends Exchange = NodeExchange>(snapshots: SnapshotShelf) {
  return {
    createSnapshot: async ({ params, body, requestId, signal }) => {
      const { name, metadata = {} } = body;
      const snapshot = await snapshots.take(params.id, { name, metadata });
      // The caller has left, does not know the id, and would find the name taken if it asked again.
      if (signal.aborted) await snapshots.delete(snapshot.id);
      return { ...snapshotOnWire(snapshot), request_id: requestId };
    },

    listSnapshots: ({ requestId }) => ({
      object: "list",
      data: [...snapshots.list()]
        .sort((one, other) => other.createdAt.getTime() - one.createdAt.getTime())
        .map(snapshotOnWire),
      ...(snapshots.lack !== undefined && { unavailable: snapshots.lack }),
      url: "/v1/snapshots",
      request_id: requestId,
    }),

    getSnapshot: ({ params, requestId }) => ({
      ...snapshotOnWire(snapshots.get(params.id)),
      request_id: requestId,
    }),

    deleteSnapshot: async ({ params, requestId }) => {
      const { id } = await snapshots.delete(params.id);
      return { id, object: "snapshot", deleted: true, request_id: requestId };
    },
  } satisfies Handlers<ControlPlaneContract, unknown, Over>;
}

function snapshotOnWire(snapshot: SnapshotFacts): ControlPlaneSchemas["Snapshot"] {
  const { id, name, metadata, sandboxId, template, sizeBytes, createdAt, isConsistent } = snapshot;
  return {
    id,
    object: "snapshot",
    ...(name !== undefined && { name }),
    metadata: { ...metadata },
    sandbox_id: sandboxId,
    template_name: template.name,
    size_bytes: sizeBytes,
    created_at: createdAt.toISOString(),
    consistent: isConsistent,
    kept: { files: true, environment: true, variables: false, processes: false },
  };
}

export function snapshotNotFound(idOrName: string): Problem {
  const shown = JSON.stringify(idOrName.slice(0, 128));
  return new Problem(404, "SNAPSHOT_NOT_FOUND", `There is no snapshot ${shown}.`, {
    hint: "List snapshots to see those that exist, or take one of a sandbox.",
  });
}

export const snapshotNameTaken = (name: string): Problem =>
  new Problem(409, "CONFLICT", `A snapshot named ${JSON.stringify(name)} exists already.`, {
    hint: "Choose another name, or delete that snapshot first.",
  });

/** The refusal to restore a sandbox from a snapshot of one with another template. */
export const snapshotOfOther = (snapshot: SnapshotFacts, template: string): Problem =>
  new Problem(
    409,
    "CONFLICT",
    `Snapshot ${snapshot.id} is of a sandbox with the template ${snapshot.template.name}, and this one has ${template}.`,
    { hint: "Create a sandbox from the snapshot instead." },
  );
