import { parseRetryAfter } from "../error-envelope.js";
import { errorFromResponse } from "../error-from-response.js";
import { InvalidResponseError, type SandboxError } from "../errors.js";
import type { CallScope } from "../transport/call-scope.js";
import type { ChannelTimeouts, Credentials } from "../transport/channel.js";
import type { Hooks } from "../transport/hooks.js";
import { networkFailure } from "../transport/network-failure.js";
import type { Failure, RetryPolicy } from "../transport/retry-policy.js";
import { HandshakeFailed, HandshakeRefused, type Sockets } from "../transport/sockets.js";
import { version } from "../version.js";
import { FrameSocket } from "./frame-socket.js";

/** The WebSockets of one agent. */
export interface SocketRoute {
  baseUrl: URL;
  credentials: Credentials;
  sockets: Sockets;
  retry: RetryPolicy;
  timeouts: ChannelTimeouts;
  hooks: Hooks;
  /** Asks the agent over HTTP, for carriers that do not say why a handshake failed. Throws what is wrong, if it tells. */
  probe(scope: CallScope): Promise<void>;
  /** Called when the stream is over, however it ends. */
  ended(): void;
}

export interface StreamRequest {
  /** With its query. */
  path: string;
  scope: CallScope;
  /** Seconds for which the server may have nothing to say. */
  silence: number;
}

/** Opens one. Nothing runs before the first frame, so a handshake may be repeated as any harmless call may. */
export async function openFrameSocket(route: SocketRoute, request: StreamRequest): Promise<FrameSocket> {
  const { credentials, hooks, retry, timeouts } = route;
  const { path, scope } = request;
  const { origin } = route.baseUrl;
  const requestId = globalThis.crypto.randomUUID();
  const seconds = timeouts.request;
  scope.limit({ seconds, kind: "request", passed: `${origin} did not open a stream`, requestId });
  let renewed = false;
  for (let attempt = 1; ; attempt++) {
    scope.throwIfAborted();
    const proof = await credentials.headers(scope);
    const bare = path.split("?", 1).join();
    const event = { plane: "agent" as const, method: "GET", path: bare, requestId, attempt };
    hooks.onRequest?.(event);
    const started = performance.now();
    const outcome = await attemptToOpen(route, request, requestId, proof);
    if ("socket" in outcome) {
      hooks.onResponse?.({ ...event, status: 101, durationMs: performance.now() - started });
      scope.unlimit();
      return outcome.socket;
    }
    const { error, failure } = outcome;
    if (failure.kind === "status") {
      hooks.onResponse?.({ ...event, status: failure.status, durationMs: performance.now() - started });
      if (failure.status === 401 && !renewed && credentials.renew) {
        renewed = true;
        if (await credentials.renew(proof, scope)) continue;
      }
    }
    const delay = retry.delay(failure, "always", attempt);
    if (delay === undefined || delay * 1000 >= scope.remaining) throw error;
    hooks.onRetry?.({ ...event, delay, reason: error.code });
    await scope.sleep(delay);
  }
}

type Outcome = { socket: FrameSocket } | { error: SandboxError; failure: Failure };

async function attemptToOpen(
  route: SocketRoute,
  { path, scope, silence }: StreamRequest,
  requestId: string,
  proof: Record<string, string>,
): Promise<Outcome> {
  const { baseUrl, credentials, ended, sockets, timeouts } = route;
  const { origin } = baseUrl;
  const socket = new FrameSocket({ origin, requestId, scope, idle: timeouts.idle, silence, ended });
  try {
    const headers = { "user-agent": `cloud-sandbox/${version}`, "x-request-id": requestId, ...proof };
    const url = `${origin}${baseUrl.pathname}`.replace(/^http/, "ws").replace(/\/+$/, "") + path;
    socket.attach(await sockets.open({ url, headers, listener: socket, scope }));
    return { socket };
  } catch (cause) {
    if (scope.failure !== undefined) throw scope.failure;
    if (cause instanceof HandshakeRefused) return refused(cause, origin, requestId, credentials.secrets());
    if (cause instanceof HandshakeFailed) await route.probe(scope);
    const secrets = credentials.secrets();
    const call = { origin, plane: "agent" as const, requestId, harmless: true, secrets };
    const { error, unsent } = networkFailure(cause, call);
    return { error, failure: { kind: unsent ? "unsent" : "broken" } };
  }
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
  const retryAfter = parseRetryAfter(headers.get("retry-after"));
  return { error, failure: { kind: "status", status, retryAfter } };
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    // A page of a proxy: its words are looked for.
    return body;
  }
}

function noWebSocket(status: number, origin: string, requestId: string): InvalidResponseError {
  return new InvalidResponseError({
    summary: `${origin} answered ${status} instead of opening a WebSocket.`,
    hint: "A proxy on the way may not pass WebSockets on.",
    code: "WEBSOCKET_REFUSED",
    requestId,
    status,
  });
}
