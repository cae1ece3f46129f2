import type { ControlPlaneOperations, ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import type { ControlPlaneContract } from "../../generated/control-plane-contract.js";
import { type Exchange, type NodeExchange, Reply } from "../../http/exchange.js";
import { Problem } from "../../http/problem.js";
import type { Handlers } from "../../router/handlers.js";
import { pageOf } from "../../router/page.js";
import type { Idempotency, IdempotentCreates } from "./idempotent-creates.js";
import {
  type PreviewUrls,
  type RequestedEgress,
  type SandboxFacts,
  sandboxOnWire,
} from "./sandbox-answers.js";
import { sandboxFailed } from "./sandbox-problems.js";
import type { RequestedSecrets } from "./secret-answers.js";
import { neverSleeps, requestedSleep, type SandboxUpdate, type SleepSettings } from "./sleep-answers.js";
import { type OwnLimits, ownLimitsOf } from "./template-facts.js";

/** Lifetime, in seconds, of a sandbox whose create request names none. */
const defaultLifetimeSeconds = 600;

/** A request to create a sandbox. */
export interface CreateRequest {
  /** Undefined if there is a {@link snapshot}. */
  readonly template?: string | undefined;
  /** The id or name of a snapshot to begin with. */
  readonly snapshot?: string | undefined;
  /** Of the snapshot, only `/workspace`, `/tmp` and the home directory. */
  readonly filesOnly?: boolean | undefined;
  readonly timeoutSeconds: number;
  readonly minIsolation: ControlPlaneSchemas["Isolation"] | undefined;
  readonly name: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly egress: RequestedEgress;
  readonly limits: OwnLimits | undefined;
  /** What to mount, by its path in the sandbox. */
  readonly mounts: Readonly<Record<string, ControlPlaneSchemas["Mount"]>>;
  readonly secrets: RequestedSecrets;
  readonly sleep: SleepSettings;
  readonly environment: Readonly<Record<string, string>>;
  readonly idempotency: Idempotency | undefined;
}

/** The sandboxes of a control plane. Its methods throw a problem if the operation is not possible. */
export interface Fleet<Sandbox extends SandboxFacts> {
  list(): readonly Sandbox[];
  has(id: string): boolean;
  get(id: string): Sandbox;
  create(request: CreateRequest): Promise<Sandbox>;
  getOrCreate(request: CreateRequest & { readonly name: string }): Promise<Created<Sandbox>>;
  delete(id: string): Promise<unknown>;
  pause(id: string): Promise<Sandbox>;
  resume(id: string): Promise<Sandbox>;
  stop(id: string): Promise<Sandbox>;
  start(id: string): Promise<Sandbox>;
  setTimeout(id: string, seconds: number): Promise<Sandbox>;
  update(id: string, update: SandboxUpdate): Promise<Sandbox>;
  /** Makes sandboxes with the files of this one. For each its sandbox, or the problem that says why it could not be made. */
  fork(
    id: string,
    count: number,
    timeoutSeconds: number | undefined,
  ): Promise<readonly (Sandbox | Problem)[]>;
  /** Gives a sandbox the files of a snapshot, and starts it. */
  restore(id: string, snapshot: string): Promise<Sandbox>;
}

export interface SandboxHandlerParts<Sandbox extends SandboxFacts, Over extends Exchange = NodeExchange> {
  readonly fleet: Fleet<Sandbox>;
  readonly creates: IdempotentCreates<Created<Sandbox>>;
  /**
   * Internet access of sandboxes whose create request names none. Default: the whole internet, as the contract says.
   */
  readonly defaultEgress?: RequestedEgress;
  readonly tokens: {
    issue(sandboxId: string): Promise<{ readonly token: string; readonly expiresAt: Date }>;
  };
  /** A stream of server-sent events with a sandbox's metrics. */
  readonly metrics: (sandboxId: string, signal: AbortSignal) => Over["stream"];
  /** URL of a sandbox's agent for a caller that reached this server as `host`. */
  readonly agentUrl: (sandboxId: string, host: string | undefined) => string;
  /** URLs of servers that listen in a sandbox, for a caller that reached this server as `host`. */
  readonly previewUrls: (sandboxId: string, host: string | undefined) => PreviewUrls;
}

/**
 * Sorts by creation time. The id alone does not sort by age: a machine, and with it its id, may be made before the
 * sandbox that uses it.
 */
const byAge = ({ createdAt, id }: SandboxFacts): string => createdAt.toISOString() + id;

/** The operations on sandboxes. */
export function sandboxHandlers<Sandbox extends SandboxFacts, Over extends Exchange = NodeExchange>(
  parts: SandboxHandlerParts<Sandbox, Over>,
) {
  const { fleet, creates, tokens, metrics, agentUrl, previewUrls } = parts;
  const defaultEgress = parts.defaultEgress ?? { internetAccess: true };
  const onWire = (sandbox: SandboxFacts, call: Caller): ControlPlaneSchemas["Sandbox"] =>
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
        create(fleet, body, defaultEgress, idempotency),
      );
      // The caller disconnected before it learned the id. If no other caller knows the sandbox, delete it. With get_or_create,
      // others may have got it by its name.
      if (signal.aborted && isNew && !body.get_or_create && creates.abandon(key))
        await fleet.delete(sandbox.id);
      const created = { ...onWire(sandbox, call), ...(await tokenOnWire(sandbox.id)) };
      if (isNew) return created;
      return new Reply(JSON.stringify(created), { "content-type": "application/json" }, 200);
    },

    getSandbox: (call) => onWire(fleet.get(call.params.id), call),

    updateSandbox: async (call) => {
      const { metadata } = call.body;
      const update = { ...(metadata && { metadata }), sleep: requestedSleep(call.body) };
      return onWire(await fleet.update(call.params.id, update), call);
    },

    deleteSandbox: async ({ params, requestId }) => {
      await fleet.delete(params.id);
      return { id: params.id, object: "sandbox", status: "deleted", deleted: true, request_id: requestId };
    },

    pauseSandbox: async ({ params, requestId }) => stateOnWire(await fleet.pause(params.id), requestId),

    resumeSandbox: async ({ params, requestId }) => stateOnWire(await fleet.resume(params.id), requestId),

    stopSandbox: async ({ params, requestId }) => stateOnWire(await fleet.stop(params.id), requestId),

    startSandbox: async ({ params, requestId }) => stateOnWire(await fleet.start(params.id), requestId),

    forkSandbox: async (call) => {
      const { count = 1, timeout_seconds } = call.body;
      const made = await fleet.fork(call.params.id, count, timeout_seconds);
      // The caller has left and learns no id.
      if (call.signal.aborted)
        await Promise.allSettled(made.map((one) => !(one instanceof Problem) && fleet.delete(one.id)));
      const data = made.map(async (one) => {
        if (one instanceof Problem) return { error: { code: one.code, message: one.message } };
        return { sandbox: { ...onWire(one, call), ...(await tokenOnWire(one.id)) } };
      });
      return { object: "list", data: await Promise.all(data), request_id: call.requestId };
    },

    restoreSandbox: async ({ params, body, requestId }) =>
      stateOnWire(await fleet.restore(params.id, body.snapshot), requestId),

    setSandboxTimeout: async ({ params, body, requestId }) => {
      const { id, timeoutSeconds, expiresAt } = await fleet.setTimeout(params.id, body.timeout_seconds);
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
      return new Reply(metrics(params.id, signal), {
        "content-type": "text/event-stream",
        "cache-control": "no-store",
      });
    },
  } satisfies Handlers<ControlPlaneContract, unknown, Over>;
}

/** The parts of a call that answers need. */
interface Caller {
  readonly requestId: string;
  readonly header: (name: string) => string | undefined;
}

type CreateBody = ControlPlaneOperations["createSandbox"]["requestBody"]["content"]["application/json"];
type ListQuery = NonNullable<ControlPlaneOperations["listSandboxes"]["parameters"]["query"]>;

export interface Created<Sandbox> {
  readonly sandbox: Sandbox;
  /** Whether the sandbox was created by this request. */
  readonly isNew: boolean;
}

async function create<Sandbox extends SandboxFacts>(
  fleet: Fleet<Sandbox>,
  body: CreateBody,
  defaultEgress: RequestedEgress,
  idempotency: Idempotency | undefined,
): Promise<Created<Sandbox>> {
  const { name, snapshot } = body;
  if (snapshot !== undefined && (body.template_name ?? body.template_id) !== undefined)
    throw new Problem(400, "INVALID_REQUEST", "Both a snapshot and a template are given.", {
      hint: "Leave the template out: a snapshot has that of its sandbox.",
    });
  if (snapshot === undefined && body.files_only)
    throw new Problem(400, "INVALID_REQUEST", "files_only is given without a snapshot.", {
      hint: "Leave it out, or give a snapshot.",
    });
  const request: CreateRequest = {
    template:
      snapshot === undefined ? (body.template_name ?? templateReference(body.template_id)) : undefined,
    snapshot,
    filesOnly: body.files_only,
    timeoutSeconds: body.timeout_seconds ?? defaultLifetimeSeconds,
    minIsolation: body.min_isolation,
    name,
    metadata: body.metadata ?? {},
    environment: body.env_vars ?? {},
    limits: ownLimitsOf(body.limits),
    mounts: body.mounts ?? {},
    secrets: body.secrets,
    sleep: { ...neverSleeps, ...requestedSleep(body) },
    egress: requestedEgress(body, defaultEgress),
    idempotency,
  };
  if (body.get_or_create !== true) return { sandbox: await fleet.create(request), isNew: true };
  if (name === undefined)
    throw new Problem(400, "MISSING_PARAMETER", "get_or_create needs a name.", {
      hint: "Send a name, or leave get_or_create out.",
    });
  return fleet.getOrCreate({ ...request, name });
}

/** The internet access for a create request. Allow and deny lists in the request replace the server's default lists. */
export function requestedEgress(
  { internet_access, egress }: Pick<CreateBody, "egress" | "internet_access">,
  serverDefault: RequestedEgress,
): RequestedEgress {
  const internetAccess = internet_access ?? serverDefault.internetAccess;
  return internetAccess ? { ...serverDefault, internetAccess, ...egress } : { internetAccess, ...egress };
}

export function templateReference(reference: CreateBody["template_id"]): string {
  return String(typeof reference === "object" ? reference.value : reference);
}

function filterOf({ status, region, name, metadata }: ListQuery): (sandbox: SandboxFacts) => boolean {
  const labels = [...new URLSearchParams(metadata ?? "")];
  return (sandbox) =>
    (status === undefined || sandbox.status === status) &&
    (region === undefined || region === "local") &&
    (name === undefined || sandbox.name === name) &&
    labels.every(([label, value]) => sandbox.metadata[label] === value);
}

function stateOnWire({ id, status }: SandboxFacts, requestId: string): ControlPlaneSchemas["SandboxState"] {
  return { id, status, request_id: requestId };
}
