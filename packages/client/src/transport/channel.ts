import { longestAnswer } from "@cloud-sandbox/protocol/bounded-answers";
import { type Plane, parseRetryAfter } from "../errors/error-from-response.js";
import { isSandboxError, type SandboxError } from "../errors/errors.js";
import { redact, secretsOf } from "../errors/redaction.js";
import { type Activity, CallScope, type Calls, type ServerClock, type StopSignal } from "./calls/calls.js";
import { isTerminating } from "./calls/termination-watch.js";
import { longestBody, type Received, receive } from "./http/read-response.js";
import type { IncomingResponse, Pieces, RequestBody, Transport } from "./http/transport.js";
import { watchStream } from "./http/watched-stream.js";
import {
  type ObservedTry,
  type Observer,
  type Observers,
  observerOf,
  type RequestEvent,
} from "./observer.js";
import {
  type DecidedRetry,
  type Failure,
  networkFailure,
  type Repeatable,
  RetryPolicy,
  repeatable,
} from "./retry-policy.js";
import { version } from "./version.js";

/** The credentials for one server. */
export interface Credentials {
  /** Headers with the credentials, for the next attempt. */
  headers(signal: StopSignal): Record<string, string> | Promise<Record<string, string>>;
  /** Called after a 401. `refused` are the headers that were sent; resolves with whether another attempt may succeed. */
  renew?(refused: Record<string, string>, signal: StopSignal): Promise<boolean>;
  /** Values that must never appear in errors, events or logs. */
  secrets(): readonly string[];
}

export interface ChannelOptions {
  transport: Transport;
  calls: Calls;
  /** URL to which the path of each operation is appended. */
  baseUrl: URL;
  plane: Plane;
  credentials: Credentials;
  retry: DecidedRetry;
  timeouts: ChannelTimeouts;
  observers: Observers;
  /** True for probes: a failure is an expected answer, and is not reported to hooks and log. */
  expectsFailure?: boolean | undefined;
  /** True for a third party's server: it gets no trace headers, and hooks do not see its paths, which may be secrets. */
  isForeign?: boolean | undefined;
  /** Records every call, to know when the sandbox was last used. */
  activity?: Activity | undefined;
  /** Learns the server's time from the Date header of each answer. */
  clock?: ServerClock | undefined;
}

/** A request to send to the server of a `Channel`. */
export interface ChannelRequest {
  method: string;
  /** Path below the server's base URL, with the query, already encoded. */
  path: string;
  /** Header values by lower-case name. */
  headers: Record<string, string>;
  body: RequestBody | null;
  /** Path as in the API description. */
  operation?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Seconds until the answer must have arrived, retries included. */
  requestTimeout?: number | undefined;
  /** Called with the number of body bytes sent so far in this attempt. */
  onSent?: ((bytes: number) => void) | undefined;
  /** The most bytes to accept of a successful answer, in place of the default. */
  maxBytes?: number | undefined;
  /** Whether the answer is parsed as JSON. */
  isParsed?: boolean;
  /** Called with an answer that the caller does not get, because a hook threw. */
  onLost?: ((answer: Received) => void) | undefined;
}

/** Default time limits, in seconds. */
export interface ChannelTimeouts {
  request: number;
  /** For operations that run code: the longest time that code may run, plus a margin. */
  running: number;
  idle: number;
}

/** Sends requests to one server: adds authentication, time limits, retries and typed errors. */
export class Channel {
  readonly #origin: string;
  /** Path of the base URL, without a trailing slash. */
  readonly #basePath: string;
  readonly #options: ChannelOptions;
  readonly #observer: Observer | undefined;
  readonly #retry: RetryPolicy;
  readonly #unanswered: string;

  constructor(options: ChannelOptions) {
    this.#options = options;
    this.#observer = observerOf(options.observers);
    this.#retry = new RetryPolicy(options.retry);
    this.#origin = options.baseUrl.origin;
    this.#unanswered = `${this.#origin} did not answer`;
    this.#basePath = options.baseUrl.pathname.replace(/\/+$/, "");
  }

  /** Resolves for every status except a redirect, otherwise rejects with a `SandboxError`. */
  async send(request: ChannelRequest): Promise<Received> {
    const call = new Call(request, this.#basePath + request.path);
    const { timeouts } = this.#options;
    const seconds = request.requestTimeout ?? (call.waitsForCode ? timeouts.running : timeouts.request);
    const isStopped = this.#options.calls.stoppable(call.scope);
    call.scope.limit({ seconds, kind: "request", passed: this.#unanswered, requestId: call.id });
    const isOver = this.#options.activity?.begin();
    let answer: Received | undefined;
    try {
      answer = await this.#untilSettled(call);
      if (answer.status >= 400) await this.#unlessTerminating();
      return answer;
    } catch (error) {
      await this.#unlessTerminating();
      if (isSandboxError(error)) this.#failed(call, error);
      throw error;
    } finally {
      isOver?.();
      isStopped();
      // The call lasts until its streamed body ends: do not end its scope yet.
      if (!(answer?.body instanceof ReadableStream)) call.scope.end();
    }
  }

  async #unlessTerminating(): Promise<void> {
    if (this.#options.plane === "agent" && isTerminating()) await new Promise(() => undefined);
  }

  async #untilSettled(call: Call): Promise<Received> {
    const { credentials } = this.#options;
    let renewed = false;
    for (;;) {
      call.scope.throwIfAborted();
      call.attempt++;
      const proof = await credentials.headers(call.scope);
      const outcome = await this.#attempt(call, proof);
      const failure = "answer" in outcome ? failureOf(outcome.answer) : outcome.failure;
      if (failure === undefined || !call.replayable) return settled(outcome);
      if (failure.kind === "status" && failure.status === 401 && !renewed && credentials.renew) {
        renewed = true;
        if (await credentials.renew(proof, call.scope)) continue;
      }
      const delay = this.#retry.delay(failure, call.may, call.attempt);
      if (delay === undefined || delay * 1000 >= call.scope.remaining) return settled(outcome);
      this.#observer?.retry({ ...this.#event(call), delaySeconds: delay, reason: reasonOf(outcome) });
      await call.scope.sleep(delay);
    }
  }

  async #attempt(call: Call, proof: Record<string, string>): Promise<Outcome> {
    const observed = this.#observer?.begin(this.#event(call));
    const outcome = await this.#sent(call, proof, observed).catch((error: unknown) => {
      if (isSandboxError(error)) observed?.broke(error);
      throw error;
    });
    if (!("answer" in outcome)) {
      observed?.broke(outcome.error);
      return outcome;
    }
    const { answer } = outcome;
    this.#options.clock?.observe(answer.headers.date);
    try {
      observed?.answered(answer.status);
    } catch (error) {
      // A hook threw, so the caller will not get this answer.
      if (answer.body instanceof ReadableStream) await answer.body.cancel();
      else call.request.onLost?.(answer);
      throw error;
    }
    return outcome;
  }

  async #sent(
    call: Call,
    proof: Record<string, string>,
    observed: ObservedTry | undefined,
  ): Promise<Outcome> {
    const { transport, isForeign } = this.#options;
    const { method, body, onSent } = call.request;
    const { path, scope } = call;
    const headers = call.headers(proof, isForeign ? undefined : observed?.headers);
    try {
      const outgoing = { method, origin: this.#origin, path, headers, body, onSent, scope };
      return { answer: await this.#receive(call, await transport.send(outgoing)) };
    } catch (cause) {
      if (isSandboxError(cause)) throw cause;
      return this.#broken(call, cause);
    }
  }

  #receive(call: Call, incoming: IncomingResponse): Promise<Received> {
    const { plane } = this.#options;
    return receive(incoming, {
      origin: this.#origin,
      call: {
        plane,
        requestId: call.id,
        harmless: call.harmless,
        secrets: () => [...this.#secrets(), ...secretsIn(call.request.body)],
        failed: (error) => this.#failed(call, error),
      },
      isParsed: call.request.isParsed ?? false,
      longest: plane === "agent" ? (longestAnswer(call.request.path) ?? longestBody) : longestBody,
      maxBytes: call.request.maxBytes,
      expectChunk: () => this.#expectChunk(call),
      watched: (pieces) => this.#watched(call, pieces),
    });
  }

  #watched(call: Call, pieces: Pieces): ReadableStream<Uint8Array> {
    return watchStream(pieces, {
      scope: call.scope,
      ended: this.#options.calls.stream(call.scope),
      expectChunk: () => this.#expectChunk(call),
      describe: (cause) => {
        const { error } = this.#broken(call, cause);
        this.#failed(call, error);
        return error;
      },
    });
  }

  #expectChunk(call: Call): void {
    const seconds = this.#options.timeouts.idle;
    const passed = `${this.#origin} sent no more of its answer`;
    call.scope.limit({ seconds, kind: "idle", passed, requestId: call.id });
  }

  #broken(call: Call, cause: unknown): { error: SandboxError; failure: Failure | undefined } {
    if (call.scope.failure !== undefined) return { error: call.scope.failure, failure: undefined };
    return networkFailure(cause, {
      origin: this.#origin,
      plane: this.#options.plane,
      requestId: call.id,
      harmless: call.harmless,
      secrets: this.#secrets(),
    });
  }

  readonly #secrets = (): readonly string[] => this.#options.credentials.secrets();

  #failed(call: Call, error: SandboxError): void {
    if (!this.#options.expectsFailure) this.#observer?.failed(this.#event(call), error);
  }

  #event({ attempt, id, path, request }: Call): RequestEvent {
    const { isForeign, plane } = this.#options;
    const { method, operation } = request;
    const bare = isForeign ? "/[hidden]" : redact(path.split("?", 1).join(), this.#secrets());
    return { plane, method, origin: this.#origin, path: bare, operation, requestId: id, attempt };
  }
}

/** One call with all its attempts. */
class Call {
  readonly id = globalThis.crypto.randomUUID();
  readonly scope: CallScope;
  readonly may: Repeatable;
  attempt = 0;

  constructor(
    readonly request: ChannelRequest,
    readonly path: string,
  ) {
    this.scope = new CallScope(request.signal);
    this.may = repeatable(request.method, request.path);
  }

  /** Whether the answer comes only after the code has ended. Operations that start background programs answer at once. */
  get waitsForCode(): boolean {
    return this.may === "unsent" && !/\/(background|async)$/.test(this.path);
  }

  get harmless(): boolean {
    return this.may === "always";
  }

  get replayable(): boolean {
    return !(this.request.body instanceof ReadableStream);
  }

  headers(
    proof: Record<string, string>,
    trace: Readonly<Record<string, string>> | undefined,
  ): Record<string, string> {
    return {
      accept: "*/*",
      "user-agent": userAgent,
      "x-request-id": this.id,
      ...trace,
      ...this.request.headers,
      ...proof,
    };
  }
}

type Outcome = { answer: Received } | { error: SandboxError; failure: Failure | undefined };

/** The secret values in a JSON body. Bodies that are files have none. */
function secretsIn(body: RequestBody | null): string[] {
  if (typeof body !== "string" || !body.startsWith("{")) return [];
  try {
    return secretsOf(JSON.parse(body));
  } catch {
    // The body is not JSON, but the text of a file that starts with "{".
    return [];
  }
}

const userAgent = `cloud-sandbox/${version}`;

function settled(outcome: Outcome): Received {
  if ("answer" in outcome) return outcome.answer;
  throw outcome.error;
}

function failureOf({ status, headers }: Received): Failure | undefined {
  if (status < 400) return undefined;
  return { kind: "status", status, retryAfter: parseRetryAfter(headers) };
}

function reasonOf(outcome: Outcome): string {
  return "answer" in outcome ? String(outcome.answer.status) : outcome.error.code;
}
