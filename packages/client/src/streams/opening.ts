import { errorFromResponse, parseRetryAfter } from "../errors/error-from-response.js";
import { InvalidResponseError, isSandboxError, type SandboxError } from "../errors/errors.js";
import { CallScope } from "../transport/calls/calls.js";
import type { ChannelTimeouts, Credentials } from "../transport/channel.js";
import {
  type ObservedTry,
  type Observer,
  type Observers,
  observerOf,
  type RequestEvent,
} from "../transport/observer.js";
import { type DecidedRetry, type Failure, networkFailure, RetryPolicy } from "../transport/retry-policy.js";
import { HandshakeFailed, HandshakeRefused, type Sockets } from "../transport/sockets/sockets.js";
import { version } from "../transport/version.js";

/** The parts of a client that are needed to open WebSockets and tunnels to one agent. */
export interface SocketRoute {
  baseUrl: URL;
  credentials: Credentials;
  sockets: Required<Sockets>;
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

/** What to open: a WebSocket or a tunnel. */
export interface OpeningRequest {
  /** Path with the query. */
  path: string;
  scope: CallScope;
  /** Seconds for which to repeat failed attempts, in place of the client's number of attempts. */
  openSeconds?: number | undefined;
}

/** Makes one attempt. Rejects as {@link Sockets} do. */
export type Open<Opened> = (attempt: {
  /** Address to connect to, `http:` or `https:`. */
  url: string;
  headers: Record<string, string>;
  /** Stops the attempt. */
  scope: CallScope;
  requestId: string;
  /** Reports an error of the open connection to hooks and log. */
  failed: (error: SandboxError) => void;
}) => Promise<Opened>;

interface Closable {
  close(): void;
}

/** A `SocketRoute` with its observer and retry policy created. */
interface WatchedRoute extends Omit<SocketRoute, "observers" | "retry"> {
  observer: Observer | undefined;
  retry: RetryPolicy;
}

/** Opens a connection. A failed handshake is retried like any idempotent call, because nothing has run before it succeeds. */
export async function openConnection<Opened extends Closable>(
  route: SocketRoute,
  request: OpeningRequest,
  open: Open<Opened>,
): Promise<Opened> {
  const { origin } = route.baseUrl;
  const operation = request.path.split("?", 1).join();
  const path = route.baseUrl.pathname.replace(/\/+$/, "") + operation;
  const requestId = globalThis.crypto.randomUUID();
  const event = { plane: "agent" as const, method: "GET", origin, path, operation, requestId, attempt: 0 };
  const observer = observerOf(route.observers);
  const { openSeconds } = request;
  const retry = new RetryPolicy(
    openSeconds === undefined ? route.retry : { ...route.retry, attempts: Number.POSITIVE_INFINITY },
  );
  try {
    return await untilOpen({ ...route, observer, retry }, request, event, open);
  } catch (error) {
    if (isSandboxError(error)) observer?.failed(event, error);
    throw error;
  }
}

async function untilOpen<Opened extends Closable>(
  route: WatchedRoute,
  request: OpeningRequest,
  event: RequestEvent,
  open: Open<Opened>,
): Promise<Opened> {
  const { credentials, observer, retry } = route;
  const { scope } = request;
  const { origin, requestId } = event;
  const seconds = request.openSeconds ?? route.timeouts.request;
  scope.limit({ seconds, kind: "request", passed: notOpened(origin), requestId });
  let renewed = false;
  for (;;) {
    scope.throwIfAborted();
    event.attempt++;
    const proof = await credentials.headers(scope);
    const observed = observer?.begin({ ...event });
    const outcome = await attemptToOpen(route, request, event, proof, observed, open);
    if ("opened" in outcome) {
      scope.unlimit();
      return outcome.opened;
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

type Failed = { error: SandboxError; failure: Failure };
type Outcome<Opened> = { opened: Opened } | Failed;

async function attemptToOpen<Opened extends Closable>(
  route: WatchedRoute,
  request: OpeningRequest,
  event: RequestEvent,
  proof: Record<string, string>,
  observed: ObservedTry | undefined,
  open: Open<Opened>,
): Promise<Outcome<Opened>> {
  let outcome: Outcome<Opened>;
  try {
    outcome = await handshake(route, request, event, { ...observed?.headers, ...proof }, open);
  } catch (error) {
    if (isSandboxError(error)) observed?.broke(error);
    throw error;
  }
  if ("opened" in outcome) reportOpened(outcome.opened, observed);
  else if (outcome.failure.kind === "status") observed?.answered(outcome.failure.status);
  else observed?.broke(outcome.error);
  return outcome;
}

/** Reports the opened connection. If a hook throws, closes it, because nobody will read it. */
function reportOpened(opened: Closable, observed: ObservedTry | undefined): void {
  try {
    observed?.answered(101);
  } catch (error) {
    opened.close();
    throw error;
  }
}

async function handshake<Opened>(
  route: WatchedRoute,
  { path, openSeconds, scope }: OpeningRequest,
  event: RequestEvent,
  proof: Record<string, string>,
  open: Open<Opened>,
): Promise<Outcome<Opened>> {
  const { baseUrl, credentials, observer } = route;
  const { origin, requestId } = event;
  const failed = (error: SandboxError): void => observer?.failed(event, error);
  const attempt = openSeconds === undefined ? scope : attemptOf(scope, origin, requestId);
  try {
    const headers = { "user-agent": `cloud-sandbox/${version}`, "x-request-id": requestId, ...proof };
    const url = `${origin}${baseUrl.pathname}`.replace(/\/+$/, "") + path;
    return { opened: await open({ url, headers, scope: attempt, requestId, failed }) };
  } catch (cause) {
    if (scope.failure !== undefined) throw scope.failure;
    if (attempt.failure !== undefined) return { error: attempt.failure, failure: { kind: "broken" } };
    if (isSandboxError(cause)) throw cause;
    if (cause instanceof HandshakeRefused) return refused(cause, origin, requestId, credentials.secrets());
    if (cause instanceof HandshakeFailed && openSeconds === undefined) await route.probe(scope);
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

/** Timeout of one attempt in seconds, if `openSeconds` is given. Needed because a lost network gives no error at all. */
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
): Failed {
  if (status < 400) throw noUpgrade(status, origin, requestId);
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

function noUpgrade(status: number, origin: string, requestId: string): InvalidResponseError {
  return new InvalidResponseError({
    summary: `${origin} answered ${status} instead of upgrading the connection.`,
    hint: "Check whether a proxy on the way blocks WebSockets and other upgrades.",
    code: "WEBSOCKET_REFUSED",
    requestId,
    status,
  });
}
