import { createHash, createHmac, randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { limits } from "@cloud-sandbox/protocol/limits";
import {
  contractRouter,
  controlPlaneEnvelope,
  type Handlers,
  Problem,
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
  eventHandlers,
  IdempotentCreates,
  type ProgramHandlerParts,
  programHandlers,
  RepeatedPrograms,
  type SandboxHandlerParts,
  type SnapshotShelf,
  sandboxHandlers,
  sandboxNotFound,
  snapshotHandlers,
  type TemplateHandlersOptions,
  templateHandlers,
} from "@cloud-sandbox/server-kit/handlers";
import type { LocalTemplate } from "../catalogue/template-catalogue.js";
import type { EgressGateway } from "../egress/egress-gateway.js";
import type { StoredSecrets } from "../egress/secrets/stored-secrets.js";
import type { ExecutionEvents } from "../events/execution-events.js";
import type { IsolationLevel, SandboxRuntime } from "../runtime/sandbox-runtime.js";
import { KeyFleet } from "../sandboxes/key-fleet.js";
import type { OneShotPrograms } from "../sandboxes/one-shot-programs.js";
import type { SandboxFleet } from "../sandboxes/sandbox-fleet.js";
import type { SandboxRecord } from "../sandboxes/sandbox-record.js";
import type { Snapshots } from "../saved/snapshots.js";
import type { EventLog } from "../store/event-log.js";
import { type Caller, type KeyRing, owner } from "../tokens/key-ring.js";
import type { TokenIssuer } from "../tokens/token-issuer.js";
import type { Volumes } from "../volumes/volumes.js";
import type { Webhooks } from "../webhooks/webhooks.js";
import { changeHandlers } from "./change-handlers.js";
import { keyHandlers, refusedToOthers } from "./key-handlers.js";
import { type LinkHandlerParts, linkHandlers } from "./link-handlers.js";
import { secretHandlers, storedSecretHandlers } from "./secret-handlers.js";
import type { ServerMetrics } from "./server-metrics.js";
import { volumeHandlers } from "./volume-handlers.js";

const bodyLimitBytes = 1024 * 1024;
/** The longest bodies of requests to run a program, as long as an agent accepts, and to apply 100,000 changes. */
const longerBodies: Readonly<Record<string, number>> = {
  runProgram: limits.requestBytes,
  applyChanges: 16 * 1024 * 1024,
};

/** Code of programs goes only to its interpreter, and a byte of a changed file's name that is no UTF-8 is half a surrogate pair. */
const keepingNoText: ReadonlySet<string> = new Set(["runProgram", "applyChanges"]);

interface ControlPlaneApiOptions
  extends Omit<SandboxHandlerParts<SandboxRecord>, "fleet" | "creates" | "tokens">,
    TemplateHandlersOptions<LocalTemplate>,
    Pick<ProgramHandlerParts, "defaultEgress" | "stream"> {
  readonly fleet: SandboxFleet;
  readonly programs: OneShotPrograms;
  readonly tokens: Pick<TokenIssuer, "issue">;
  readonly egress: EgressGateway;
  readonly keys: KeyRing;
  readonly volumes: Volumes;
  readonly snapshots: Snapshots;
  readonly storedSecrets: StoredSecrets;
  readonly limiter: RateLimiter;
  readonly runtime: string;
  readonly refusalOfPriorityClass: SandboxRuntime["refusalOfPriorityClass"];
  readonly isolation: IsolationLevel;
  readonly version: string;
  /** The current problem: changes cannot be saved, or sandboxes cannot be started. */
  readonly problem: () => StorageStatus | undefined;
  readonly webhooks: Pick<Webhooks, "handlers" | "subscriptionHandlers">;
  readonly events: EventLog;
  readonly linking: LinkHandlerParts;
  readonly executionEvents: Pick<ExecutionEvents, "program">;
  /** The metrics of a sandbox; undefined if there are none now. */
  readonly metricsOf: (
    sandboxId: string,
    signal: AbortSignal,
  ) => Promise<Record<string, unknown> | undefined>;
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
    bodyLimit: ({ operationId }) => longerBodies[operationId] ?? bodyLimitBytes,
    keepsTexts: ({ operationId }) => !keepingNoText.has(operationId),
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
  const requireSeen = (sandboxId: string): void => {
    if (!fleet.sees(sandboxId)) throw sandboxNotFound(sandboxId);
  };
  return {
    ...options.webhooks.handlers((sandboxId) => fleet.sees(sandboxId), keyId),
    ...options.webhooks.subscriptionHandlers(keyId, requireSeen),
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
        const run = () => options.executionEvents.program(keyId, () => programs.run(spec, keyId));
        return serverMetrics ? serverMetrics.program(run) : run();
      },
      repeated: new RepeatedPrograms(digest),
    }),

    ...egressHandlers((wanted) => {
      const id = programs.has(wanted, keyId) ? wanted : fleet.get(wanted).id;
      const { entries, totals } = options.egress.log(id);
      return { sandboxId: id, entries, totals };
    }),

    setSandboxEgress: async ({ params, body, requestId }) => {
      await options.fleet.access.setEgress(fleet.get(params.id), body);
      return { ...body, request_id: requestId };
    },

    decideSandboxEgress: async ({ params, body, requestId }) => {
      await options.fleet.access.decideEgress(fleet.get(params.id), body);
      return { ...body, request_id: requestId };
    },

    ...linkHandlers(options.linking, fleet, options.fleet.access, keyId),

    ...eventHandlers({
      events: options.events,
      keyId,
      requireSeen,
      metrics: options.metricsOf,
      stream: (pieces) => Readable.from(pieces, { objectMode: false }),
    }),

    ...templateHandlers(options),

    ...volumeHandlers(options.volumes, keyId),

    ...secretHandlers(fleet, options.fleet.access),
    ...storedSecretHandlers(options.storedSecrets, keyId),

    ...snapshotHandlers(shelfOf(options, fleet, keyId)),

    ...changeHandlers(fleet, options.volumes.copies, options.fleet),

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

/** The snapshots that an API key sees. */
function shelfOf(
  { snapshots, fleet }: ControlPlaneApiOptions,
  seen: KeyFleet,
  keyId: string | undefined,
): SnapshotShelf {
  return {
    lack: snapshots.lack,
    list: () => snapshots.list(keyId),
    get: (idOrName) => snapshots.get(idOrName, keyId),
    take: async (sandboxId, request) => fleet.snapshots.take(seen.get(sandboxId), request),
    delete: async (idOrName) => {
      const snapshot = snapshots.get(idOrName, keyId);
      await fleet.snapshots.delete(snapshot);
      return snapshot;
    },
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

const digestKey = randomBytes(32);

/**
 * Tells requests apart. Digests of creates are kept in records: one of a request with secrets has a key that only this process knows,
 * because a weak value could be guessed from it.
 */
const digest = (request: string): string => {
  const hash = request.includes('"secrets"') ? createHmac("sha256", digestKey) : createHash("sha256");
  return hash.update(request).digest("base64");
};

const windowMs = 60_000;
/** Callers counted one by one in a window. Further ones are counted as one caller, except those with a key of this server. */
const knownCallers = 1000;

/** Counts the requests of each caller in windows of a minute. */
export class RateLimiter {
  readonly #counts = new Map<string, number>();
  #windowEnd = 0;

  constructor(
    private readonly limit: number,
    private readonly keys: Pick<KeyRing, "knows">,
  ) {}

  /** Counts a request with this credential and sets the rate limit headers. Throws a 429 problem beyond the limit. */
  admit(credential: string, headers: Record<string, string>): void {
    const now = Date.now();
    if (now >= this.#windowEnd) {
      this.#counts.clear();
      this.#windowEnd = now + windowMs;
    }
    const caller = this.#caller(credential);
    const count = (this.#counts.get(caller) ?? 0) + 1;
    this.#counts.set(caller, count);
    headers["x-ratelimit-limit"] = String(this.limit);
    headers["x-ratelimit-remaining"] = String(Math.max(0, this.limit - count));
    headers["x-ratelimit-reset"] = String(Math.ceil(this.#windowEnd / 1000));
    if (count > this.limit) throw this.#excess(Math.max(1, Math.ceil((this.#windowEnd - now) / 1000)));
  }

  #caller(credential: string): string {
    const digest = createHash("sha256").update(credential).digest("base64");
    const isCountedAlone =
      this.#counts.has(digest) || this.#counts.size < knownCallers || this.keys.knows(credential);
    return isCountedAlone ? digest : "others";
  }

  #excess(seconds: number): Problem {
    const message = `More than ${this.limit} requests came in one minute, the limit of this server.`;
    return new Problem(429, "RATE_LIMIT_EXCEEDED", message, {
      hint: `Wait ${seconds} s, or start the server with a higher --rate-limit.`,
      headers: { "retry-after": String(seconds) },
      details: { retry_after_seconds: seconds, limit: this.limit },
    });
  }
}
