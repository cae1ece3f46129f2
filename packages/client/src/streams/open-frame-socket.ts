import { errorFromResponse } from "../errors/error-from-response.js";
import { InvalidResponseError, isSandboxError, type SandboxError } from "../errors/errors.js";
import { parseRetryAfter } from "../errors/retry-after.js";
import { CallScope } from "../transport/calls/call-scope.js";
import type { ChannelTimeouts, Credentials } from "../transport/channel.js";
import type { RequestEvent } from "../transport/observation/hooks.js";
import {
  type ObservedTry,
  type Observer,
  type Observers,
  observerOf,
} from "../transport/observation/observer.js";
import { networkFailure } from "../transport/retry/network-failure.js";
import type { DecidedRetry } from "../transport/retry/retry-options.js";
import { type Failure, RetryPolicy } from "../transport/retry/retry-policy.js";
import { HandshakeFailed, HandshakeRefused, type Sockets } from "../transport/sockets/sockets.js";
import { version } from "../transport/version.js";
import { FrameSocket } from "./frame-socket.js";

/** The parts of a client that are needed to open WebSockets to one agent. */
export interface SocketRoute {
  baseUrl: URL;
  credentials: Credentials;
  sockets: Sockets;
  retry: DecidedRetry;
  timeouts: ChannelTimeouts;
  observers: Observers;
  /**
   * Asks the agent over HTTP why a handshake failed, for WebSocket implementations that do not say. Throws the error
   * found.
   */
  probe(scope: CallScope): Promise<void>;
  /** Called when the stream has ended, for any reason. */
  ended(): void;
}

export interface StreamRequest {
  /** Path with the query. */
  path: string;
  scope: CallScope;
  /** Seconds for which the server may send no frame. */
  silence: number;
  /** Seconds without a sign of life after which the connection counts as lost, if `timeouts.idleSeconds` is longer. */
  idle?: number | undefined;
  /** Seconds for which to repeat failed attempts, in place of the client's number of attempts. */
  patience?: number | undefined;
}

/** A `SocketRoute` with its observer and retry policy created. */
interface WatchedRoute extends Omit<SocketRoute, "observers" | "retry"> {
  observer: Observer | undefined;
  retry: RetryPolicy;
}

/**
 * Opens a WebSocket. A failed handshake is retried like any idempotent call, because nothing runs before the first frame.
 */
export async function openFrameSocket(route: SocketRoute, request: StreamRequest): Promise<FrameSocket> {
  const { origin } = route.baseUrl;
  const operation = request.path.split("?", 1).join();
  const path = route.baseUrl.pathname.replace(/\/+$/, "") + operation;
  const requestId = globalThis.crypto.randomUUID();
  const event = { plane: "agent" as const, method: "GET", origin, path, operation, requestId, attempt: 0 };
  const observer = observerOf(route.observers);
  const { patience } = request;
  const retry = new RetryPolicy(
    patience === undefined ? route.retry : { ...route.retry, attempts: Number.POSITIVE_INFINITY },
  );
  try {
    return await untilOpen({ ...route, observer, retry }, request, event);
  } catch (error) {
    if (isSandboxError(error)) observer?.failed(event, error);
    throw error;
  }
}

async function untilOpen(
  route: WatchedRoute,
  request: StreamRequest,
  event: RequestEvent,
): Promise<FrameSocket> {
  const { credentials, observer, retry } = route;
  const { scope } = request;
  const { origin, requestId } = event;
  const seconds = request.patience ?? route.timeouts.request;
  scope.limit({ seconds, kind: "request", passed: notOpened(origin), requestId });
  let renewed = false;
  for (;;) {
    scope.throwIfAborted();
    event.attempt++;
    const proof = await credentials.headers(scope);
    const observed = observer?.begin({ ...event });
    const outcome = await attemptToOpen(route, request, event, proof, observed);
    if ("socket" in outcome) {
      scope.unlimit();
      return outcome.socket;
    }
    const { error, failure } = outcome;
    if (failure.kind === "status" && failure.status === 401 && !renewed && credentials.renew) {
      renewed = true;
      if (await credentials.renew(proof, scope)) continue;
    }
    const delay = retry.delay(failure, "always", event.attempt);
    if (delay === undefined || delay * 1000 >= scope.remaining) throw error;
    observer?.retry({ ...event, delaySeconds: delay, reason: error.code });
    await scope.sleep(delay);
  }
}

type Outcome = { socket: FrameSocket } | { error: SandboxError; failure: Failure };

async function attemptToOpen(
  route: WatchedRoute,
  request: StreamRequest,
  event: RequestEvent,
  proof: Record<string, string>,
  observed: ObservedTry | undefined,
): Promise<Outcome> {
  let outcome: Outcome;
  try {
    outcome = await handshake(route, request, event, { ...observed?.headers, ...proof });
  } catch (error) {
    if (isSandboxError(error)) observed?.broke(error);
    throw error;
  }
  if ("socket" in outcome) opened(outcome.socket, observed);
  else if (outcome.failure.kind === "status") observed?.answered(outcome.failure.status);
  else observed?.broke(outcome.error);
  return outcome;
}

/** Reports the opened WebSocket. If a hook throws, closes the socket, because nobody will read it. */
function opened(socket: FrameSocket, observed: ObservedTry | undefined): void {
  try {
    observed?.answered(101);
  } catch (error) {
    socket.close();
    throw error;
  }
}

async function handshake(
  route: WatchedRoute,
  { path, scope, silence, ...request }: StreamRequest,
  event: RequestEvent,
  proof: Record<string, string>,
): Promise<Outcome> {
  const { baseUrl, credentials, ended, observer, sockets, timeouts } = route;
  const { origin, requestId } = event;
  const failed = (error: SandboxError): void => observer?.failed(event, error);
  const idle = Math.min(timeouts.idle, request.idle ?? timeouts.idle);
  const socket = new FrameSocket({ origin, requestId, scope, idle, silence, ended, failed });
  const attempt = request.patience === undefined ? scope : attemptOf(scope, origin, requestId);
  try {
    const headers = { "user-agent": `cloud-sandbox/${version}`, "x-request-id": requestId, ...proof };
    const url = `${origin}${baseUrl.pathname}`.replace(/^http/, "ws").replace(/\/+$/, "") + path;
    socket.attach(await sockets.open({ url, headers, listener: socket, scope: attempt }));
    return { socket };
  } catch (cause) {
    if (scope.failure !== undefined) throw scope.failure;
    if (attempt.failure !== undefined) return { error: attempt.failure, failure: { kind: "broken" } };
    if (isSandboxError(cause)) throw cause;
    if (cause instanceof HandshakeRefused) return refused(cause, origin, requestId, credentials.secrets());
    if (cause instanceof HandshakeFailed && request.patience === undefined) await route.probe(scope);
    const secrets = credentials.secrets();
    const call = { origin, plane: "agent" as const, requestId, harmless: true, secrets };
    const { error, failure } = networkFailure(cause, call);
    if (failure === undefined) throw error;
    return { error, failure };
  } finally {
    if (attempt !== scope) attempt.end();
  }
}

const notOpened = (origin: string): string => `${origin} did not open a stream`;

/** Timeout of one attempt in seconds, if `patience` is given. Needed because a lost network gives no error at all. */
const attemptSeconds = 10;

function attemptOf(scope: CallScope, origin: string, requestId: string): CallScope {
  const attempt = new CallScope(scope.abortSignal);
  attempt.limit({ seconds: attemptSeconds, kind: "request", passed: notOpened(origin), requestId });
  return attempt;
}

function refused(
  { body, headers, status }: HandshakeRefused,
  origin: string,
  requestId: string,
  secrets: readonly string[],
): Outcome {
  if (status < 400) throw noWebSocket(status, origin, requestId);
  const failed = { status, headers, body: parsed(body), plane: "agent" as const, requestId };
  const error = errorFromResponse({ ...failed, harmless: true, secrets });
  const retryAfter = parseRetryAfter(headers);
  return { error, failure: { kind: "status", status, retryAfter } };
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    // The text is not JSON, for example a proxy's page: return it as it is, so that a message can be found in it.
    return body;
  }
}

function noWebSocket(status: number, origin: string, requestId: string): InvalidResponseError {
  return new InvalidResponseError({
    summary: `${origin} answered ${status} instead of opening a WebSocket.`,
    hint: "Check whether a proxy on the way blocks WebSockets.",
    code: "WEBSOCKET_REFUSED",
    requestId,
    status,
  });
}
