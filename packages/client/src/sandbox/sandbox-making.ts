/** How a sandbox is made: asked for, waited for, and deleted where nobody has it in the end. */
import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { type AgentAccess, agentUrl } from "../agent/agent-access.js";
import { afterCleanUp } from "../agent/cleanup.js";
import { callInit } from "../config/call-options.js";
import { NetworkError, TimeoutError } from "../errors/errors.js";
import { CallScope } from "../transport/calls/call-scope.js";
import type { Calls } from "../transport/calls/calls.js";
import { unlessAborted } from "../transport/calls/unless-aborted.js";
import { type Answer, bodyOf } from "../transport/contract-clients.js";
import type { OwnedSandboxes } from "./owned-sandboxes.js";
import type { Sandbox, SandboxOperations } from "./sandbox.js";
import type { CreateSandboxOptions } from "./sandbox-creation.js";

type WireSandbox = ControlPlaneSchemas["Sandbox"];
type WireRequest = ControlPlaneSchemas["CreateSandboxRequest"];

/** What is needed of those who make it. */
interface Making {
  sandboxes: Pick<SandboxOperations, "background" | "controlPlane" | "delete">;
  calls: Calls;
  /** Who deletes it when a signal ends the process, if anybody. */
  owned: OwnedSandboxes | undefined;
  /** Until it can be used. */
  seconds: number;
  tries: number;
  sandbox(wire: WireSandbox): Sandbox;
  access(id: string): AgentAccess;
}

interface MadeSandbox {
  wire: WireSandbox;
  /** False for one that was there before and is somebody else's too. */
  isNew: boolean;
}

/** Seconds to learn the id, once the caller has given up. */
const graceForTheId = 60;
/** Seconds without an answer, at most, after which the server is asked whether it may be asked again. */
const longestSilence = 15;

export async function makeSandbox(
  making: Making,
  request: WireRequest,
  options: CreateSandboxOptions,
): Promise<Sandbox> {
  const { owned, sandboxes, seconds } = making;
  const scope = new CallScope(options.signal);
  const isOver = making.calls.stoppable(scope);
  try {
    scope.limit({ seconds, kind: "request", passed: "The sandbox was not ready", hint: whatMayBe });
    await owned?.ready();
    scope.throwIfAborted();
    // Goes on when the caller gives up: only the answer names what is to be deleted then.
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

/** The first answer to one create, which is repeated when it stays away and the server knows creates by their keys. */
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
      // Nothing but what is under way can answer.
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

/** The first that is over, or nothing at all after `seconds`. */
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

/** Whether the server may have made a sandbox, and nobody knows which. */
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
    const wasThere = request.get_or_create === true && (await pending).response.status === 200;
    return { wire, isNew: !wasThere || wire.name !== request.name };
  };
  const onLost = (response: Response): void =>
    background.run(() =>
      deleteComing(making, made(response.json().then((data) => ({ data: data as WireSandbox, response })))),
    );
  const init = { params, body: request, onLost, ...callInit({ requestTimeoutSeconds, signal }) };
  return made(controlPlane.POST("/v1/sandboxes", init));
}

async function deleteComing({ sandboxes }: Making, pending: Promise<MadeSandbox>): Promise<void> {
  try {
    const { isNew, wire } = await pending;
    if (isNew) await sandboxes.delete(wire.id);
  } catch (error) {
    // What was refused was not made.
    if (isLost({ error })) sandboxes.background.warn(error);
  }
}

const whatMayBe =
  "What comes of it is deleted as soon as the server names it, and ends with its lifetime at the latest; " +
  "client.sandboxes.list() tells what there is. Allow more with the requestTimeoutSeconds option.";

function unanswered(cause: unknown): unknown {
  if (!(cause instanceof NetworkError && cause.wasSent)) return cause;
  const { code, requestId, summary, wasSent } = cause;
  return new NetworkError({ summary, hint: mayBeThere, code, requestId, wasSent, cause });
}

const mayBeThere =
  "A sandbox may have been made, which ends with its lifetime at the latest; look at client.sandboxes.list() before trying again.";

async function prepared(
  { access, sandbox: sandboxOf, sandboxes }: Making,
  { isNew, wire }: MadeSandbox,
  request: WireRequest,
  options: CreateSandboxOptions,
  scope: CallScope,
): Promise<Sandbox> {
  const { id } = wire;
  try {
    if (request.get_or_create === true && wire.name !== request.name)
      throw (await import("./sandbox-refusals.js")).noNames();
    const sandbox = sandboxOf(wire);
    if (sandbox.status !== "running" || sandbox.publicHost === undefined)
      await (await import("./readiness.js")).untilRunning(sandbox, scope);
    agentUrl(sandbox.publicHost ?? "");
    if ([options.minIsolation, options.egress, options.limits].some((asked) => asked !== undefined)) {
      const { checkGranted: checkKept } = await import("./granted-options.js");
      checkKept(options, wire);
    }
    // Who states the isolation keeps our contract: the agent is ready and has its environment.
    if (sandbox.isolation === undefined) {
      const { untilPrepared } = await import("./agent-readiness.js");
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
