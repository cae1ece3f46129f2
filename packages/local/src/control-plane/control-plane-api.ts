import type { ControlPlaneOperations, ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import {
  type ControlPlaneContract,
  controlPlaneContract,
} from "@cloud-sandbox/protocol/control-plane-contract";
import {
  type Call,
  contractRouter,
  controlPlaneEnvelope,
  type Handlers,
  Problem,
  type UnauthenticatedCall,
} from "@cloud-sandbox/protocol/server";
import type { EgressGateway } from "../egress/egress-gateway.js";
import type { EgressEntry } from "../egress/egress-log.js";
import { bearerToken } from "../gateway/forwarded-headers.js";
import type { IsolationLevel } from "../runtime/sandbox-runtime.js";
import type { AccountKey } from "./account-key.js";
import { IdempotentCreates } from "./idempotent-creates.js";
import { pageOf } from "./page.js";
import { sandboxFailed, templateNotFound } from "./problems.js";
import type { SandboxFleet } from "./sandbox-fleet.js";
import type { SandboxRecord } from "./sandbox-record.js";
import type { TemplateCatalogue } from "./template-catalogue.js";
import type { TokenIssuer } from "./token-issuer.js";
import { egressEntryOnWire, sandboxOnWire, templateListItemOnWire, templateOnWire } from "./wire-forms.js";

/** Lifetime of a sandbox whose create names none, in seconds. */
const defaultLifetimeSeconds = 600;
const bodyLimitBytes = 1024 * 1024;

export interface ControlPlaneApiOptions {
  readonly fleet: SandboxFleet;
  readonly egress: EgressGateway;
  readonly templates: TemplateCatalogue;
  readonly tokens: TokenIssuer;
  readonly accountKey: AccountKey;
  readonly runtime: string;
  readonly isolation: IsolationLevel;
  readonly version: string;
  /** URL at which a sandbox's agent is reached by a caller that reached this server as `host`. */
  readonly agentUrl: (sandboxId: string, host: string | undefined) => string;
  /** Gives a fresh sandbox the environment variables that it was created with. */
  readonly setEnvironment: (
    sandbox: SandboxRecord,
    variables: Readonly<Record<string, string>>,
  ) => Promise<void>;
  readonly log: (message: string) => void;
}

/** Contract 1, as far as this machine can keep it. Everything inside a sandbox is the agent's. */
export function controlPlaneApi(options: ControlPlaneApiOptions) {
  return contractRouter<ControlPlaneContract, undefined>({
    contract: controlPlaneContract,
    handlers: handlers(options),
    envelope: controlPlaneEnvelope,
    authenticate: (request) => authenticate(request, options.accountKey),
    bodyLimit: bodyLimitBytes,
    onError: (error, { requestId, operationId }) =>
      options.log(
        `${operationId} failed (${requestId}): ${error instanceof Error ? error.stack : String(error)}`,
      ),
  });
}

function authenticate(request: UnauthenticatedCall, accountKey: AccountKey): undefined {
  const key = request.header("x-api-key") ?? bearerToken(request.header("authorization"));
  if (key === "") {
    const message = "No API key was given. Send it as X-API-Key, or as Authorization: Bearer.";
    throw new Problem(401, "AUTHENTICATION_REQUIRED", message, { headers: { "www-authenticate": "Bearer" } });
  }
  if (!accountKey.matches(key)) {
    throw new Problem(
      401,
      "INVALID_API_KEY",
      "This API key is not the control plane's. Check CLOUD_SANDBOX_API_KEY.",
      {
        headers: { "www-authenticate": 'Bearer error="invalid_token"' },
      },
    );
  }
}

function handlers(options: ControlPlaneApiOptions): Handlers<ControlPlaneContract, undefined> {
  const { fleet, templates, tokens, agentUrl } = options;
  const creates = new IdempotentCreates<SandboxRecord>();
  const onWire = (sandbox: SandboxRecord, call: Caller): ControlPlaneSchemas["Sandbox"] =>
    sandboxOnWire(sandbox, agentUrl(sandbox.id, call.header("host")), call.requestId);
  const tokenOnWire = async (id: string): Promise<{ auth_token: string; token_expires_at: string }> => {
    const { token, expiresAt } = await tokens.issue(id);
    return { auth_token: token, token_expires_at: expiresAt.toISOString() };
  };

  return {
    getHealth: () => ({
      status: "healthy",
      version: options.version,
      runtime: options.runtime,
      isolation: options.isolation,
      timestamp: new Date().toISOString(),
    }),

    listSandboxes: (call) => {
      const { query, requestId } = call;
      const { limit, cursor, status, region } = query;
      const matching = fleet
        .list()
        .filter(
          (sandbox) => (status === undefined || sandbox.status === status) && (region ?? "local") === "local",
        );
      const { items, nextCursor } = pageOf(matching, ({ id }) => id, { limit, cursor });
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
      const { body } = call;
      const key = call.header("idempotency-key");
      const sandbox = await creates.run(key, body, () => createSandbox(options, body));
      // Its id would never be known to anybody.
      if (call.signal.aborted && creates.abandon(key)) await fleet.delete(sandbox.id);
      return { ...onWire(sandbox, call), ...(await tokenOnWire(sandbox.id)) };
    },

    getSandbox: (call) => onWire(fleet.get(call.params.id), call),

    deleteSandbox: async ({ params, requestId }) => {
      await fleet.delete(params.id);
      return { id: params.id, object: "sandbox", status: "deleted", deleted: true, request_id: requestId };
    },

    pauseSandbox: async ({ params, requestId }) => stateOnWire(await fleet.pause(params.id), requestId),

    resumeSandbox: async ({ params, requestId }) => stateOnWire(await fleet.resume(params.id), requestId),

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

    listSandboxEgress: ({ params, query, requestId }) => {
      const { id } = fleet.get(params.id);
      const { entries, totals } = options.egress.log(id);
      const key = ({ sequence }: EgressEntry): string => String(sequence).padStart(16, "0");
      const { items, nextCursor } = pageOf(entries, key, { limit: query.limit, cursor: query.cursor });
      return {
        object: "list",
        data: items.map(egressEntryOnWire),
        has_more: nextCursor !== undefined,
        ...(nextCursor !== undefined && { next_cursor: nextCursor }),
        totals: {
          allowed: totals.allowed,
          refused: totals.refused,
          failed: totals.failed,
          dropped: totals.dropped,
          bytes_sent: totals.bytesSent,
          bytes_received: totals.bytesReceived,
        },
        url: `/v1/sandboxes/${id}/egress`,
        request_id: requestId,
      };
    },

    listTemplates: ({ query, requestId }) => {
      const matching = templates
        .list()
        .filter(({ category }) => query.category === undefined || category === query.category)
        .filter(
          ({ languages }) => !query.language || languages.some(({ language }) => language === query.language),
        );
      const { items, nextCursor } = pageOf(matching, ({ name }) => name, {
        limit: query.limit ?? 1000,
        cursor: query.cursor,
      });
      return {
        object: "list",
        data: items.map(templateListItemOnWire).map((item) => selectFields(item, query.fields)),
        has_more: nextCursor !== undefined,
        ...(nextCursor !== undefined && { next_cursor: nextCursor }),
        url: "/v1/templates",
        request_id: requestId,
      };
    },

    getTemplate: ({ params, requestId }) => {
      const template = templates.find(params.name);
      if (!template)
        throw templateNotFound(
          params.name,
          templates.list().map(({ name }) => name),
        );
      return templateOnWire(template, requestId);
    },
  };
}

type Caller = Pick<Call, "requestId" | "header">;

type CreateBody = ControlPlaneOperations["createSandbox"]["requestBody"]["content"]["application/json"];

async function createSandbox(
  { fleet, setEnvironment }: ControlPlaneApiOptions,
  body: CreateBody,
): Promise<SandboxRecord> {
  const sandbox = await fleet.create({
    template: body.template_name ?? templateReference(body.template_id),
    timeoutSeconds: body.timeout_seconds ?? defaultLifetimeSeconds,
    minIsolation: body.min_isolation,
    name: body.name,
    metadata: body.metadata ?? {},
    egress: { internetAccess: body.internet_access ?? false, ...body.egress },
  });
  if (body.env_vars === undefined || Object.keys(body.env_vars).length === 0) return sandbox;
  try {
    await setEnvironment(sandbox, body.env_vars);
    return sandbox;
  } catch (error) {
    await fleet.delete(sandbox.id);
    throw error;
  }
}

function templateReference(reference: CreateBody["template_id"]): string {
  return String(typeof reference === "object" ? reference.value : reference);
}

function stateOnWire({ id, status }: SandboxRecord, requestId: string): ControlPlaneSchemas["SandboxState"] {
  return { id, status, request_id: requestId };
}

/** The fields that were asked for; `id` and `name` always. */
function selectFields(
  item: ControlPlaneSchemas["TemplateListItem"],
  fields: string | undefined,
): ControlPlaneSchemas["TemplateListItem"] {
  if (fields === undefined || fields === "all") return item;
  const wanted = new Set(["id", "name", ...fields.split(",").map((field) => field.trim())]);
  const kept = Object.entries(item).filter(([name]) => wanted.has(name));
  return { ...Object.fromEntries(kept), id: item.id, name: item.name };
}
