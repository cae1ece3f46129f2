import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import {
  type CallOptions,
  callInit,
  callOptionNames,
  checkKnown,
  checkText,
  checkTexts,
  checkWhole,
  lifetime,
  omitUndefined,
  requestInit,
} from "../config/options.js";
import { SandboxError } from "../errors/errors.js";
import { type ControlPlaneClient, readBody } from "../transport/contract-clients.js";
import type { SandboxStatus } from "./sandbox-record.js";
import {
  type ForkOptions,
  type SnapshotOptions,
  type SnapshotRecord,
  type SnapshotReference,
  snapshotName,
  snapshotRecord,
} from "./snapshots.js";

/** Takes a snapshot of a sandbox. */
export async function takeSnapshot(
  controlPlane: ControlPlaneClient,
  id: string,
  options: SnapshotOptions = {},
): Promise<SnapshotRecord> {
  checkKnown("snapshot", options, { ...callOptionNames, name: true, metadata: true });
  const { name, metadata } = options;
  checkText("name", name);
  checkTexts("metadata", metadata);
  const body = omitUndefined({ name, metadata: metadata && { ...metadata } });
  const init = { params: { path: { id } }, body, ...requestInit(options) };
  return readBody(controlPlane.POST("/v1/sandboxes/{id}/snapshots", init), snapshotRecord, "id");
}

/** Gives a sandbox the files of a snapshot. */
export async function restoreSandbox(
  controlPlane: ControlPlaneClient,
  id: string,
  snapshot: SnapshotReference,
  options?: CallOptions,
): Promise<SandboxStatus> {
  const body = { snapshot: snapshotName(snapshot) };
  const init = { params: { path: { id } }, body, ...callInit(options) };
  return readBody(controlPlane.POST("/v1/sandboxes/{id}/restore", init), ({ status = "running" }) => status);
}

/** The request body of "fork sandbox". */
export function forkRequest(options: ForkOptions): ControlPlaneSchemas["ForkRequest"] {
  checkKnown("fork", options, { ...callOptionNames, count: true, timeoutSeconds: true });
  const { count, timeoutSeconds } = options;
  checkWhole("count", count, 1, 100);
  const seconds = timeoutSeconds === undefined ? undefined : lifetime(timeoutSeconds, "timeoutSeconds");
  return omitUndefined({ count, timeout_seconds: seconds });
}

/** Why one sandbox of a fork could not be made. */
export function forkFailure({ error }: ControlPlaneSchemas["Fork"]): SandboxError {
  const { code = "INVALID_RESPONSE", message = "The server tells neither a sandbox nor an error." } =
    error ?? {};
  return new SandboxError({ summary: message, code });
}
