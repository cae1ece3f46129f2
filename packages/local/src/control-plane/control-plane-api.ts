import { createHash } from "node:crypto";
import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { limits } from "@cloud-sandbox/protocol/limits";
import {
  contractRouter,
  controlPlaneEnvelope,
  type Handlers,
  Reply,
  type RequestEvent,
} from "@cloud-sandbox/server-kit";
import {
  type ControlPlaneContract,
  controlPlaneContract,
} from "@cloud-sandbox/server-kit/control-plane-contract";
import {
  authenticateAccount,
  bearerToken,
  type Created,
  egressHandlers,
  IdempotentCreates,
  type ProgramHandlerParts,
  programHandlers,
  RepeatedPrograms,
  type SandboxHandlerParts,
  sandboxHandlers,
  type TemplateHandlersOptions,
  templateHandlers,
} from "@cloud-sandbox/server-kit/handlers";
import type { LocalTemplate } from "../catalogue/template-catalogue.js";
import type { EgressGateway } from "../egress/egress-gateway.js";
import type { IsolationLevel, SandboxRuntime } from "../runtime/sandbox-runtime.js";
import { KeyFleet } from "../sandboxes/key-fleet.js";
import type { OneShotPrograms } from "../sandboxes/one-shot-programs.js";
import type { SandboxFleet } from "../sandboxes/sandbox-fleet.js";
import type { SandboxRecord } from "../sandboxes/sandbox-record.js";
import { type Caller, type KeyRing, owner } from "../tokens/key-ring.js";
import type { TokenIssuer } from "../tokens/token-issuer.js";
import type { Volumes } from "../volumes/volumes.js";
import type { Webhooks } from "../webhooks/webhooks.js";
import { keyHandlers, refusedToOthers } from "./key-handlers.js";
import type { RateLimiter } from "./rate-limiter.js";
import type { ServerMetrics } from "./server-metrics.js";
import { volumeHandlers } from "./volume-handlers.js";

const bodyLimitBytes = 1024 * 1024;
/** The longest body of a request to run a program: as long as an agent accepts. */
const programLimitBytes = limits.requestBytes;

export interface ControlPlaneApiOptions
  extends Omit<SandboxHandlerParts<SandboxRecord>, "fleet" | "creates" | "tokens">,
    TemplateHandlersOptions<LocalTemplate>,
    Pick<ProgramHandlerParts, "defaultEgress" | "stream"> {
  readonly fleet: SandboxFleet;
  readonly programs: OneShotPrograms;
  readonly tokens: Pick<TokenIssuer, "issue">;
  readonly egress: EgressGateway;
  readonly keys: KeyRing;
  readonly volumes: Volumes;
  readonly limiter: RateLimiter;
  readonly runtime: string;
  readonly refusalOfPriorityClass: SandboxRuntime["refusalOfPriorityClass"];
  readonly isolation: IsolationLevel;
  readonly version: string;
  /** The current problem: changes cannot be saved, or sandboxes cannot be started. */
  readonly problem: () => StorageStatus | undefined;
  readonly webhooks: Pick<Webhooks, "handlers">;
  /** Undefined if the server measures nothing of itself. */
  readonly serverMetrics: ServerMetrics | undefined;
  /** Called for every answer. */
  readonly onRequest?: ((event: RequestEvent<Caller>) => void) | undefined;
  readonly log: (message: string) => void;
}

type ControlPlaneHandlers = Handlers<ControlPlaneContract, Caller>;

/**
 * Serves the control plane's HTTP API (`openapi/control-plane.yaml`). Operations inside a sandbox are served by the
 * sandbox's agent.
 */
export function controlPlaneApi(options: ControlPlaneApiOptions) {
  const handlers = handlersByKey(options);
  return contractRouter<ControlPlaneContract, Caller>({
    contract: controlPlaneContract,
    handlers: (caller = owner) => handlers(caller),
    envelope: (problem, context) => {
      options.serverMetrics?.noteError(problem.code);
      return controlPlaneEnvelope(problem, context);
    },
    admit: ({ headers }, responseHeaders) => {
      const key = headers["x-api-key"] ?? bearerToken(headers.authorization);
      options.limiter.admit(String(key), responseHeaders);
    },
    authenticate: (call) => authenticateAccount(call, (key) => options.keys.identify(key)),
    bodyLimit: ({ operationId }) => (operationId === "runProgram" ? programLimitBytes : bodyLimitBytes),
    // runProgram stores no text: the code goes only to its interpreter.
    keepsTexts: ({ operationId }) => operationId !== "runProgram",
    ...(options.onRequest && { onRequest: options.onRequest }),
    onError: (error, { requestId, operationId }) =>
      options.log(
        `${operationId} failed (${requestId}): ${error instanceof Error ? error.stack : String(error)}`,
      ),
  });
}

type StorageStatus = Required<Pick<ControlPlaneSchemas["Health"], "storage" | "message">>;

const healthWith = (problem: StorageStatus | undefined): Partial<StorageStatus> & { status: string } =>
  problem ? { status: "degraded", ...problem } : { status: "healthy", storage: "ok" };

/** Makes the handlers of each API key once, because they remember its idempotency keys. */
function handlersByKey(options: ControlPlaneApiOptions): (caller: Caller) => ControlPlaneHandlers {
  const known = new Map<string | undefined, ControlPlaneHandlers>();
  return ({ keyId }) => {
    const handlers = known.get(keyId) ?? handlersOf(options, keyId);
    known.set(keyId, handlers);
    return handlers;
  };
}

/** The handlers of one API key, which see only the key's own sandboxes. Those of the server's own key, undefined, see all. */
function handlersOf(options: ControlPlaneApiOptions, keyId: string | undefined): ControlPlaneHandlers {
  const { programs, tokens, serverMetrics } = options;
  const fleet = new KeyFleet(options.fleet, keyId);
  return {
    ...options.webhooks.handlers((sandboxId) => fleet.sees(sandboxId)),
    getHealth: () => ({
      ...healthWith(options.problem()),
      version: options.version,
      runtime: options.runtime,
      isolation: options.isolation,
      idempotent_creates: true,
      executions: true,
      timestamp: new Date().toISOString(),
    }),

    ...sandboxHandlers({
      ...options,
      fleet,
      creates: rememberedCreates(options.fleet, keyId),
      tokens: { issue: (id) => tokens.issue(id, keyId) },
      metrics: (id, signal) => options.metrics(fleet.get(id).id, signal),
    }),

    ...programHandlers({
      ...options,
      runProgram: (spec) => {
        const run = () => programs.run(spec, keyId);
        return serverMetrics ? serverMetrics.program(run) : run();
      },
      repeated: new RepeatedPrograms(digest),
    }),

    ...egressHandlers((wanted) => {
      const id = programs.has(wanted, keyId) ? wanted : fleet.get(wanted).id;
      const { entries, totals } = options.egress.log(id);
      return { sandboxId: id, entries, totals };
    }),

    ...templateHandlers(options),

    ...volumeHandlers(options.volumes, keyId),

    ...keyHandlers({
      ...options,
      usage: (id) => ({ sandboxes: options.fleet.countOf(id), programs: programs.countOf(id) }),
    }),

    ...(serverMetrics && {
      getServerMetrics: async () =>
        new Reply(await serverMetrics.text(), { "content-type": serverMetrics.contentType }),
    }),

    ...(keyId !== undefined && refusedToOthers),
  };
}

/** Restores the idempotency keys of an API key's creates, so that a create repeated after a restart finds its sandbox. */
function rememberedCreates(
  fleet: SandboxFleet,
  keyId: string | undefined,
): IdempotentCreates<Created<SandboxRecord>> {
  const creates = new IdempotentCreates<Created<SandboxRecord>>(
    ({ sandbox }) => fleet.has(sandbox.id) && sandbox.status !== "error",
    digest,
  );
  for (const sandbox of fleet.list()) {
    const { idempotency, createdAt } = sandbox;
    if (idempotency && sandbox.keyId === keyId)
      creates.remember(idempotency, { sandbox, isNew: true }, createdAt);
  }
  return creates;
}

const digest = (request: string): string => createHash("sha256").update(request).digest("base64");
