/** Creates a sandbox, waits until it can be used, and deletes it if the caller never receives it. */
import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { type AgentAccess, agentUrl } from "../agent/agent-access.js";
import { afterCleanUp } from "../agent/cleanup.js";
import { callInit } from "../config/options.js";
import { ApiError, NetworkError, TimeoutError } from "../errors/errors.js";
import { CallScope, type Calls, unlessAborted } from "../transport/calls/calls.js";
import { bodyOf, successOf } from "../transport/contract-clients.js";
import { type Answer, receivedOf } from "../transport/openapi-client.js";
import type { OwnedSandboxes } from "./owned-sandboxes.js";
import type { Sandbox, SandboxOperations } from "./sandbox.js";
import { type CreateSandboxOptions, checkGranted, createRequest, namedRequest } from "./sandbox-creation.js";
import { failedToStart, noNames } from "./sandbox-refusals.js";

type WireSandbox = ControlPlaneSchemas["Sandbox"];
type WireRequest = ControlPlaneSchemas["CreateSandboxRequest"];

/** The parts of the client that `makeSandbox` needs. */
interface MakingParts {
  sandboxes: Pick<SandboxOperations, "background" | "controlPlane" | "delete">;
  calls: Calls;
  /** Deletes the sandbox when a signal ends the process; undefined if `deleteOnSignal` is false. */
  owned: OwnedSandboxes | undefined;
  timeouts: { lifetime: number | undefined; request: number };
  tries: number;
  sandbox(wire: WireSandbox): Promise<Sandbox>;
  access(id: string): AgentAccess;
}

interface Making extends MakingParts {
  /** Seconds until the sandbox must be ready. */
  seconds: number;
}

interface MadeSandbox {
  wire: WireSandbox;
  /** False if `get_or_create` found an existing sandbox, which may be in use elsewhere and must not be deleted here. */
  isNew: boolean;
}

/** Seconds to wait for the server's answer after the caller gave up: it has the id of the sandbox to delete. */
const graceForTheId = 60;
/** Seconds without an answer after which the request is repeated, if the server supports idempotency keys. */
const longestSilence = 15;

/** Creates a sandbox; with `name`, finds the sandbox of this name or creates it. */
export async function makeSandbox(
  parts: MakingParts,
  options: CreateSandboxOptions,
  name?: string,
): Promise<Sandbox> {
  const { owned, sandboxes, timeouts } = parts;
  const request =
    name === undefined
      ? createRequest(options, timeouts.lifetime)
      : namedRequest(name, options, timeouts.lifetime);
  const seconds = options.requestTimeoutSeconds ?? timeouts.request;
  const making = { ...parts, seconds };
  const scope = new CallScope(options.signal);
  const isOver = making.calls.stoppable(scope);
  try {
    scope.limit({ seconds, kind: "request", passed: "The sandbox was not ready", hint: notReadyHint });
    scope.throwIfAborted();
    // Do not end this request when the caller gives up: only its answer has the id of the sandbox to delete.
    const pending = answered(making, request);
    owned?.expect(pending.then(({ wire }) => wire.id));
    const made = await unlessAborted(pending, scope).catch((error: unknown) => {
      if (scope.failure !== undefined) sandboxes.background.run(() => deleteComing(making, pending));
      throw error;
    });
    return await prepared(making, made, request, options, scope);
  } finally {
    isOver();
    scope.end();
  }
}

/**
 * Sends "create sandbox" and resolves with the first answer. If none comes, sends it again with the same Idempotency-Key,
 * provided that the server supports such keys.
 */
async function answered(making: Making, request: WireRequest): Promise<MadeSandbox> {
  const key = globalThis.crypto.randomUUID();
  const over = new AbortController();
  const until = performance.now() + (making.seconds + graceForTheId) * 1000;
  const silence = Math.min(longestSilence, making.seconds / 4);
  const pending = new Set<Promise<Outcome>>();
  const ask = (): void => {
    const left = (until - performance.now()) / 1000;
    const attempt: Promise<Outcome> = asked(making, request, key, over.signal, left).then(
      (made) => ({ made }),
      (error: unknown) => {
        pending.delete(attempt);
        return { error };
      },
    );
    pending.add(attempt);
  };
  try {
    for (let tries = 1; ; tries++) {
      ask();
      const mayRepeat = tries < making.tries;
      let outcome = await firstOf(pending, mayRepeat ? silence : undefined);
      if (mayRepeat && isLost(outcome) && (await knowsKeys(making, silence))) continue;
      // Do not send another request: only those already under way can still answer.
      while (isLost(outcome) && pending.size > 0) outcome = await firstOf(pending);
      if (outcome.made === undefined) throw unanswered(outcome.error);
      return outcome.made;
    }
  } finally {
    over.abort();
  }
}

interface Outcome {
  made?: MadeSandbox;
  error?: unknown;
}

/** The first outcome, or an empty one if there is none within `seconds`. */
async function firstOf(pending: Iterable<Promise<Outcome>>, seconds?: number): Promise<Outcome> {
  if (seconds === undefined) return Promise.race(pending);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const nothing = new Promise<Outcome>((resolve) => {
    timer = setTimeout(() => resolve({}), seconds * 1000);
  });
  try {
    return await Promise.race([...pending, nothing]);
  } finally {
    clearTimeout(timer);
  }
}

/** Whether the server may have created a sandbox whose id is unknown, because its answer did not arrive. */
function isLost({ error, made }: Outcome): boolean {
  if (made !== undefined) return false;
  return (
    error === undefined || error instanceof TimeoutError || (error instanceof NetworkError && error.wasSent)
  );
}

async function knowsKeys({ sandboxes }: Making, requestTimeoutSeconds: number): Promise<boolean> {
  const init = callInit({ requestTimeoutSeconds });
  const health = await bodyOf(sandboxes.controlPlane.GET("/health", init), "status").catch(() => undefined);
  return health?.idempotent_creates === true;
}

async function asked(
  making: Making,
  request: WireRequest,
  key: string,
  signal: AbortSignal,
  requestTimeoutSeconds: number,
): Promise<MadeSandbox> {
  const { background, controlPlane } = making.sandboxes;
  const params = { header: { "Idempotency-Key": key } };
  const made = async (pending: Promise<Answer<WireSandbox>>): Promise<MadeSandbox> => {
    const wire = await bodyOf(pending, "id", "status");
    const wasThere = request.get_or_create === true && receivedOf(await pending).status === 200;
    return { wire, isNew: !wasThere || wire.name !== request.name };
  };
  const onLost = (lost: Promise<Answer<WireSandbox>>): void =>
    background.run(() => deleteComing(making, made(lost)));
  const init = { params, body: request, onLost, ...callInit({ requestTimeoutSeconds, signal }) };
  return made(controlPlane.POST("/v1/sandboxes", init));
}

async function deleteComing({ sandboxes }: Making, pending: Promise<MadeSandbox>): Promise<void> {
  try {
    const { isNew, wire } = await pending;
    if (isNew) await sandboxes.delete(wire.id);
  } catch (error) {
    // Report only a lost answer: an error that the server sent means that no sandbox was created.
    if (isLost({ error })) sandboxes.background.warn(error);
  }
}

const notReadyHint =
  "If the server still creates the sandbox, this client deletes it as soon as its id arrives; at the latest it ends with its lifetime. " +
  "client.sandboxes.list() shows all sandboxes. Allow more time with requestTimeoutSeconds.";

function unanswered(cause: unknown): unknown {
  if (!(cause instanceof NetworkError && cause.wasSent)) return cause;
  const { code, requestId, summary, wasSent } = cause;
  return new NetworkError({ summary, hint: mayExistHint, code, requestId, wasSent, cause });
}

const mayExistHint =
  "A sandbox may have been created; it ends with its lifetime at the latest. Look at client.sandboxes.list() before trying again.";

async function prepared(
  { access, sandbox: sandboxOf, sandboxes }: Making,
  { isNew, wire }: MadeSandbox,
  request: WireRequest,
  options: CreateSandboxOptions,
  scope: CallScope,
): Promise<Sandbox> {
  const { id } = wire;
  try {
    if (request.get_or_create === true && wire.name !== request.name) throw noNames();
    const sandbox = await sandboxOf(wire);
    if (sandbox.status !== "running" || sandbox.publicHost === undefined) await untilRunning(sandbox, scope);
    agentUrl(sandbox.publicHost ?? "");
    checkGranted(options, wire);
    // Wait only for other servers: this project's, which state the isolation, answer when the agent is ready.
    if (sandbox.isolation === undefined) {
      await untilPrepared(access(id), options.env ?? {}, scope);
    }
    return sandbox;
  } catch (error) {
    const failure = scope.failure ?? error;
    if (!isNew) throw failure;
    throw await afterCleanUp(
      failure,
      () => sandboxes.delete(id, { requestTimeoutSeconds: 30 }),
      sandboxes.background,
    );
  }
}

/**
 * Waits until the sandbox's agent accepts the sandbox's token, and sends it the environment variables. Only for servers,
 * such as the HOPX cloud, that answer "create sandbox" before the agent is ready and do not pass `env_vars` on to the
 * agent.
 */
async function untilPrepared(
  access: AgentAccess,
  env: Readonly<Record<string, string>>,
  scope: CallScope,
): Promise<void> {
  const agent = access.probe();
  const init = callInit({ signal: scope.abortSignal, requestTimeoutSeconds: longestProbe });
  const body = { env_vars: { ...env }, merge: true };
  const params = { query: { path: "/workspace" } };
  for (const delay of growingDelays()) {
    try {
      // Both requests are idempotent, so they can be repeated, and both need the token, so success proves that it works.
      if (Object.keys(env).length > 0) await successOf(agent.PATCH("/env", { body, ...init }));
      else await successOf(agent.GET("/files/exists", { params, ...init }));
      return;
    } catch (error) {
      if (scope.failure !== undefined || !meansNotYet(error)) throw error;
    }
    await scope.sleep(delay);
  }
}

/** Timeout of one readiness request, in seconds. */
const longestProbe = 10;

/** Whether the error is one that gateways and agents give while a sandbox is still starting. */
function meansNotYet(error: unknown): boolean {
  if (error instanceof NetworkError || error instanceof TimeoutError) return true;
  return error instanceof ApiError && [401, 404, 425, 502, 503, 504].includes(error.status ?? 0);
}

/** Polls the control plane until the sandbox is running and has an address. Throws if its status is an unexpected one. */
async function untilRunning(sandbox: Sandbox, scope: CallScope): Promise<void> {
  for (const delay of growingDelays()) {
    const { publicHost, status } = sandbox;
    if (status !== "running" && status !== "creating") throw failedToStart(sandbox.toJSON());
    if (status === "running" && publicHost !== undefined) return;
    await scope.sleep(delay);
    await sandbox.refresh({ signal: scope.abortSignal });
  }
}

function* growingDelays(): Generator<number, never, undefined> {
  for (let delay = 0.05; ; delay = Math.min(delay * 1.6, 1)) yield delay;
}
