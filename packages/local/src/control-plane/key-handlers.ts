import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { type Handlers, Problem } from "@cloud-sandbox/server-kit";
import type { ControlPlaneContract } from "@cloud-sandbox/server-kit/control-plane-contract";
import type { SandboxRuntime } from "../runtime/sandbox-runtime.js";
import { type ApiKey, type KeyRing, statusOf } from "../tokens/key-ring.js";

export interface KeyHandlersParts {
  readonly keys: KeyRing;
  /** The name of the runtime, and why its machines cannot have a PriorityClass. */
  readonly runtime: string;
  readonly refusalOfPriorityClass: SandboxRuntime["refusalOfPriorityClass"];
  /** The sandboxes and the programs that a key has now. */
  readonly usage: (keyId: string) => { readonly sandboxes: number; readonly programs: number };
}

/** The operations on API keys. */
export function keyHandlers({ keys, runtime, refusalOfPriorityClass, usage }: KeyHandlersParts) {
  const onWire = (key: ApiKey): ControlPlaneSchemas["ApiKey"] => ({
    id: key.id,
    object: "api_key",
    name: key.name,
    status: statusOf(key),
    created_at: key.createdAt.toISOString(),
    ...(key.expiresAt && { expires_at: key.expiresAt.toISOString() }),
    ...(key.revokedAt && { revoked_at: key.revokedAt.toISOString() }),
    ...(key.lastUsedAt && { last_used_at: key.lastUsedAt.toISOString() }),
    ...(key.maxSandboxes !== undefined && { max_sandboxes: key.maxSandboxes }),
    ...(key.priorityClass !== undefined && { priority_class: key.priorityClass }),
    ...usage(key.id),
  });
  return {
    createApiKey: async ({ body, requestId, responseHeaders }) => {
      if (body.priority_class !== undefined) {
        if (!refusalOfPriorityClass) throw withoutPriorityClasses(runtime);
        const refusal = await refusalOfPriorityClass(body.priority_class);
        if (refusal !== undefined) throw unfitPriorityClass(body.priority_class, refusal);
      }
      const { key, text } = await keys.create({
        name: body.name,
        maxSandboxes: body.max_sandboxes,
        expiresInSeconds: body.expires_in_seconds,
        priorityClass: body.priority_class,
      });
      responseHeaders["cache-control"] = "no-store";
      return { ...onWire(key), key: text, request_id: requestId };
    },

    listApiKeys: ({ query, requestId }) => ({
      object: "list",
      data: keys
        .list()
        .filter(({ revokedAt }) => query.revoked || revokedAt === undefined)
        .map(onWire)
        .reverse(),
      url: "/v1/keys",
      request_id: requestId,
    }),

    revokeApiKey: async ({ params, requestId }) => ({
      ...onWire(await keys.revoke(params.id)),
      request_id: requestId,
    }),
  } satisfies Handlers<ControlPlaneContract, unknown>;
}

const withoutPriorityClasses = (runtime: string): Problem =>
  new Problem(
    400,
    "INVALID_REQUEST",
    `Only sandboxes of the runtime kubernetes have a PriorityClass, and this server has the runtime ${runtime}.`,
    { hint: "Leave priority_class out. max_sandboxes limits what the key may have here." },
  );

const unfitPriorityClass = (name: string, refusal: string): Problem =>
  new Problem(400, "INVALID_REQUEST", `Sandboxes cannot have the PriorityClass ${name}: ${refusal}.`, {
    hint: "Name a class that an administrator of the cluster has made for the key, with a ResourceQuota that counts its Pods.",
  });

/**
 * Operations that only the server's own key may call: those on keys and on the server, and those that change templates,
 * which all keys share.
 */
const ownersOperations = [
  "getServerMetrics",
  "createApiKey",
  "listApiKeys",
  "revokeApiKey",
  "buildTemplate",
  "importTemplate",
  "deleteTemplate",
  "createUploadLink",
  "getTemplateBuildStatus",
  "getTemplateBuildLogs",
] as const;

const refuse = (): never => {
  throw new Problem(403, "FORBIDDEN", "Only the server's own API key may do this.", {
    hint: "Use the key that the server was started with, or ask whoever runs the server.",
  });
};

/** Handlers that refuse what only the server's own key may do. */
export const refusedToOthers: Handlers<ControlPlaneContract, unknown> = Object.fromEntries(
  ownersOperations.map((operation) => [operation, refuse]),
);
