import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { checkKnown, checkText, omitUndefined } from "../config/options.js";
import {
  InvalidResponseError,
  invalidArgument,
  NetworkError,
  RateLimitError,
  reportIt,
  ServerError,
  StreamClosedError,
  TimeoutError,
} from "../errors/errors.js";
import { type ServerSentEvent, serverSentEvents } from "../streams/server-sent-events.js";
import { CallScope } from "../transport/calls/calls.js";
import { type ControlPlaneClient, successOf } from "../transport/contract-clients.js";

type WireEvent = ControlPlaneSchemas["Event"];

/** A type of event. `sandbox.started` is a stopped sandbox that runs again: a new one is only `sandbox.created`. */
export type EventType =
  | "sandbox.created"
  | "sandbox.paused"
  | "sandbox.resumed"
  | "sandbox.stopped"
  | "sandbox.started"
  | "sandbox.expired"
  | "sandbox.failed"
  | "sandbox.deleted"
  | "sandbox.metrics"
  | "execution.started"
  | "execution.ended"
  | "egress.refused"
  | "egress.held"
  | "build.started"
  | "build.ended"
  | "key.revoked";

/** Options of `client.events`. */
export interface EventsOptions {
  /** The id of an event, to get those after it; `"0"` for all that are kept. Default: those from now on. */
  since?: string | undefined;
  /** Only events of this sandbox, by its id. It may be gone. */
  sandbox?: string | undefined;
  /** Only events of these types. Default: all but `sandbox.metrics`, which needs a `sandbox`. */
  types?: readonly EventType[] | undefined;
  /** Ends the stream: reading then throws an `AbortError`. */
  signal?: AbortSignal | undefined;
}

/** Something that happened to a sandbox, an execution, a template's build or an API key. */
export interface SandboxEvent {
  /** For `since`. Empty in `sandbox.metrics`, which are not kept. */
  id: string;
  type: EventType;
  at: Date;
  /** Undefined in events of builds and keys, and of programs without a sandbox. */
  sandboxId: string | undefined;
  /** Name of the sandbox, the template or the key. */
  name: string | undefined;
  /** Template of a sandbox that was created. */
  template: string | undefined;
  /** Why it failed, was refused, or is held. */
  reason: string | undefined;
  /** The same in `execution.started` and `execution.ended`. */
  executionId: string | undefined;
  /** What is executed. `program` has no sandbox. */
  kind: "code" | "command" | "background" | "async" | "program" | undefined;
  /**
   * How an execution or a build ended. Of `background` and `async` executions, `completed` is exit code 0; of others it is an answer.
   * `refused` never began, the caller of `cut` left, and of `unknown` the server ended meanwhile.
   */
  outcome: "completed" | "failed" | "timeout" | "refused" | "cut" | "unknown" | undefined;
  /** Exit code of an execution in the background. */
  exitCode: number | undefined;
  /** Seconds that an execution took. */
  durationSeconds: number | undefined;
  /** What the sandbox asked for, with `egress.refused` and `egress.held`. */
  host: string | undefined;
  port: number | undefined;
  buildId: string | undefined;
  templateId: string | undefined;
  /** Id of the API key that was revoked. */
  keyId: string | undefined;
  /** The values that the agent measures, under their wire names. */
  metrics: Readonly<Record<string, unknown>> | undefined;
}

/** Seconds before a stream that broke off is opened again: the first time, at most, and how long this is tried. */
const firstPause = 0.1;
const longestPause = 5;
const longestOutage = 300;

/** Yields events, over broken connections and restarts of the server, each once. */
export async function* readEvents(
  controlPlane: ControlPlaneClient,
  options: EventsOptions,
): AsyncGenerator<SandboxEvent, void, undefined> {
  checkKnown("events", options, { since: true, sandbox: true, types: true, signal: true });
  checkText("since", options.since);
  checkText("sandbox", options.sandbox);
  if (options.types !== undefined && !(Array.isArray(options.types) && options.types.length > 0))
    throw invalidArgument("types must be a list of types of events, not empty.");
  const { signal } = options;
  let { since } = options;
  let pause = firstPause;
  let brokeAt: number | undefined;
  const scope = new CallScope(signal);
  try {
    for (;;) {
      try {
        for await (const { id, event, data } of await open(controlPlane, { ...options, since })) {
          brokeAt = undefined;
          pause = firstPause;
          if (id !== undefined) since = id;
          if (event !== "opened") yield eventIn(data);
        }
      } catch (error) {
        // Without a first event there is nothing to go on from.
        if (since === undefined || !isOutage(error)) throw error;
        brokeAt ??= Date.now();
        if (Date.now() - brokeAt > longestOutage * 1000) throw error;
      }
      await scope.sleep(pause);
      pause = Math.min(2 * pause, longestPause);
    }
  } finally {
    scope.end();
  }
}

async function open(
  controlPlane: ControlPlaneClient,
  { since, sandbox, types, signal }: EventsOptions,
): Promise<AsyncGenerator<ServerSentEvent, void, undefined>> {
  const query = omitUndefined({ since, sandbox_id: sandbox, types: types?.join(",") });
  const init = {
    params: { query },
    headers: { accept: "text/event-stream" },
    parseAs: "stream" as const,
    ...(signal && { signal }),
  };
  const stream = await successOf(controlPlane.GET("/v1/events", init));
  if (!(stream instanceof ReadableStream)) throw notEvents();
  return serverSentEvents(stream);
}

const isOutage = (error: unknown): boolean =>
  [NetworkError, StreamClosedError, TimeoutError, ServerError, RateLimitError].some(
    (outage) => error instanceof outage,
  );

/** The event that a server sent. Throws an `InvalidResponseError` if it is none. */
export function eventIn(data: string): SandboxEvent {
  try {
    const event = JSON.parse(data);
    if (typeof event?.type === "string" && typeof event.at === "string") return sandboxEvent(event);
  } catch {
    // Drop the parser's error, because it quotes the text.
  }
  throw notEvents();
}

function sandboxEvent(wire: WireEvent): SandboxEvent {
  return {
    id: wire.id ?? "",
    type: wire.type,
    at: new Date(wire.at),
    sandboxId: wire.sandbox_id,
    name: wire.name,
    template: wire.template,
    reason: wire.reason,
    executionId: wire.execution_id,
    kind: wire.kind,
    outcome: wire.outcome,
    exitCode: wire.exit_code,
    durationSeconds: wire.duration_ms === undefined ? undefined : wire.duration_ms / 1000,
    host: wire.host,
    port: wire.port,
    buildId: wire.build_id,
    templateId: wire.template_id,
    keyId: wire.key_id,
    metrics: wire.metrics,
  };
}

function notEvents(): InvalidResponseError {
  return new InvalidResponseError({
    summary: "The server's stream of events has something that is no event.",
    hint: reportIt,
    code: "INVALID_RESPONSE",
  });
}
