import { Readable } from "node:stream";
import type { ControlPlaneOperations, ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import type { ControlPlaneContract } from "@cloud-sandbox/protocol/control-plane-contract";
import { type Call, type Handlers, Problem, Reply } from "@cloud-sandbox/protocol/server";
import type { PreviewUrls } from "../gateway/preview-target.js";
import { IdempotentCreates } from "./idempotent-creates.js";
import type { MetricsStreams } from "./metrics-stream.js";
import { pageOf } from "./page.js";
import { sandboxFailed } from "./problems.js";
import type { CreateRequest, SandboxFleet } from "./sandbox-fleet.js";
import type { Idempotency, SandboxRecord } from "./sandbox-record.js";
import type { TokenIssuer } from "./token-issuer.js";
import { sandboxOnWire } from "./wire-forms.js";

/** Lifetime of a sandbox whose create names none, in seconds. */
const defaultLifetimeSeconds = 600;

export interface SandboxHandlerParts {
  readonly fleet: SandboxFleet;
  readonly tokens: TokenIssuer;
  readonly metrics: MetricsStreams;
  /** URL at which a sandbox's agent is reached by a caller that reached this server as `host`. */
  readonly agentUrl: (sandboxId: string, host: string | undefined) => string;
  /** URLs at which such a caller sees what listens in a sandbox. */
  readonly previewUrls: (sandboxId: string, host: string | undefined) => PreviewUrls;
}

/** From create to delete: what the control plane does with sandboxes. */
/** A machine, and with it the id, may be older than what was made of it. */
const byAge = ({ createdAt, id }: SandboxRecord): string => createdAt.toISOString() + id;

export function sandboxHandlers({ fleet, tokens, metrics, agentUrl, previewUrls }: SandboxHandlerParts) {
  const creates = new IdempotentCreates<Created>(
    ({ sandbox }) => fleet.has(sandbox.id) && sandbox.status !== "error",
  );
  for (const sandbox of fleet.list()) {
    const { idempotency, createdAt } = sandbox;
    if (idempotency) creates.remember(idempotency, { sandbox, isNew: true }, createdAt);
  }
  const onWire = (sandbox: SandboxRecord, call: Caller): ControlPlaneSchemas["Sandbox"] =>
    sandboxOnWire(
      sandbox,
      agentUrl(sandbox.id, call.header("host")),
      previewUrls(sandbox.id, call.header("host")),
      call.requestId,
    );
  const tokenOnWire = async (id: string): Promise<{ auth_token: string; token_expires_at: string }> => {
    const { token, expiresAt } = await tokens.issue(id);
    return { auth_token: token, token_expires_at: expiresAt.toISOString() };
  };

  return {
    listSandboxes: (call) => {
      const { query, requestId } = call;
      const { limit, cursor } = query;
      const matching = fleet.list().filter(filterOf(query));
      const { items, nextCursor } = pageOf(matching, byAge, { limit, cursor });
      return {
        object: "list",
        data: items.map((sandbox) => onWire(sandbox, call)),
        has_more: nextCursor !== undefined,
        ...(nextCursor !== undefined && { next_cursor: nextCursor }),
        url: "/v1/sandboxes",
        request_id: requestId,
      };
    },

    createSandbox: async (call) => {
      const { body, signal } = call;
      const key = call.header("idempotency-key");
      const { sandbox, isNew } = await creates.run(key, body, (idempotency) =>
        create(fleet, body, idempotency),
      );
      // Its id would never be known to anybody.
      if (signal.aborted && isNew && creates.abandon(key)) await fleet.delete(sandbox.id);
      const created = { ...onWire(sandbox, call), ...(await tokenOnWire(sandbox.id)) };
      if (isNew) return created;
      return new Reply(JSON.stringify(created), { "content-type": "application/json" }, 200);
    },

    getSandbox: (call) => onWire(fleet.get(call.params.id), call),

    deleteSandbox: async ({ params, requestId }) => {
      await fleet.delete(params.id);
      return { id: params.id, object: "sandbox", status: "deleted", deleted: true, request_id: requestId };
    },

    pauseSandbox: async ({ params, requestId }) => stateOnWire(await fleet.pause(params.id), requestId),

    resumeSandbox: async ({ params, requestId }) => stateOnWire(await fleet.resume(params.id), requestId),

    stopSandbox: async ({ params, requestId }) => stateOnWire(await fleet.stop(params.id), requestId),

    startSandbox: async ({ params, requestId }) => stateOnWire(await fleet.start(params.id), requestId),

    setSandboxTimeout: ({ params, body, requestId }) => {
      const { id, timeoutSeconds, expiresAt } = fleet.setTimeout(params.id, body.timeout_seconds);
      return {
        id,
        timeout_seconds: timeoutSeconds,
        expires_at: expiresAt.toISOString(),
        request_id: requestId,
      };
    },

    refreshSandboxToken: async (call) => {
      const sandbox = fleet.get(call.params.id);
      if (sandbox.status === "error") throw sandboxFailed(sandbox);
      const host = agentUrl(sandbox.id, call.header("host"));
      return { ...(await tokenOnWire(sandbox.id)), public_host: host, request_id: call.requestId };
    },

    streamSandboxMetrics: ({ params, signal }) => {
      const events = Readable.from(metrics.open(params.id, signal), { objectMode: false });
      return new Reply(events, { "content-type": "text/event-stream", "cache-control": "no-store" });
    },
  } satisfies Handlers<ControlPlaneContract, undefined>;
}

type Caller = Pick<Call, "requestId" | "header">;

type CreateBody = ControlPlaneOperations["createSandbox"]["requestBody"]["content"]["application/json"];
type ListQuery = NonNullable<ControlPlaneOperations["listSandboxes"]["parameters"]["query"]>;

interface Created {
  readonly sandbox: SandboxRecord;
  /** Whether it was made for this request. */
  readonly isNew: boolean;
}

async function create(
  fleet: SandboxFleet,
  body: CreateBody,
  idempotency: Idempotency | undefined,
): Promise<Created> {
  const { name } = body;
  const request: CreateRequest = {
    template: body.template_name ?? templateReference(body.template_id),
    timeoutSeconds: body.timeout_seconds ?? defaultLifetimeSeconds,
    minIsolation: body.min_isolation,
    name,
    metadata: body.metadata ?? {},
    environment: body.env_vars ?? {},
    egress: { internetAccess: body.internet_access ?? false, ...body.egress },
    idempotency,
  };
  if (body.get_or_create !== true) return { sandbox: await fleet.create(request), isNew: true };
  if (name === undefined)
    throw new Problem(400, "MISSING_PARAMETER", "get_or_create needs a name. Give one, or leave it out.");
  return fleet.getOrCreate({ ...request, name });
}

function templateReference(reference: CreateBody["template_id"]): string {
  return String(typeof reference === "object" ? reference.value : reference);
}

function filterOf({ status, region, name, metadata }: ListQuery): (sandbox: SandboxRecord) => boolean {
  const labels = [...new URLSearchParams(metadata ?? "")];
  return (sandbox) =>
    (status === undefined || sandbox.status === status) &&
    (region === undefined || region === "local") &&
    (name === undefined || sandbox.name === name) &&
    labels.every(([label, value]) => sandbox.metadata[label] === value);
}

function stateOnWire({ id, status }: SandboxRecord, requestId: string): ControlPlaneSchemas["SandboxState"] {
  return { id, status, request_id: requestId };
}
