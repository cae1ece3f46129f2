import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import type { ControlPlaneContract } from "../../generated/control-plane-contract.js";
import { type Exchange, type NodeExchange, Reply } from "../../http/exchange.js";
import { Problem } from "../../http/problem.js";
import type { Handlers } from "../../router/handlers.js";
import type { EventType, EventView, KeptEvent, KeptEvents } from "./kept-events.js";

/** Events that are read at a time, so that a slow reader needs no buffer. */
const batch = 100;
/** Milliseconds without an event after which something else is sent, so that nobody closes the connection. */
const silenceMs = 15_000;
const metricsMs = 1000;
/** Streams of one API key that may be open. */
const mostStreams = 100;

export interface EventHandlerParts<Over extends Exchange = NodeExchange> {
  readonly events: KeptEvents;
  /** The caller's API key. Undefined for the server's own key. */
  readonly keyId: string | undefined;
  /** Throws a problem if the caller may not see this sandbox, which may be gone. */
  readonly requireSeen: (sandboxId: string) => void;
  /** The metrics of a sandbox; undefined if there are none now. */
  readonly metrics: (sandboxId: string, signal: AbortSignal) => Promise<Record<string, unknown> | undefined>;
  readonly stream: (pieces: AsyncGenerator<string>) => Over["stream"];
}

/** The operation that follows events, for one API key. */
export function eventHandlers<Over extends Exchange = NodeExchange>(parts: EventHandlerParts<Over>) {
  const { events, keyId } = parts;
  let open = 0;

  async function* pieces(
    view: EventView,
    begin: number,
    metricsOf: string | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<string> {
    open += 1;
    const pauseMs = metricsOf === undefined ? silenceMs : metricsMs;
    // When to write again at the latest: events that this caller does not get wake it too, and must not put that off.
    let due = performance.now() + pauseMs;
    try {
      let cursor = begin;
      let told = begin;
      yield written("opened", idOf(events, cursor), {});
      while (!signal.aborted) {
        // Whoever reads on after a pause must be told if events went meanwhile.
        if (cursor < events.goneUntil(keyId)) return;
        const { last } = events;
        const found = events.after(cursor, view, batch);
        for (const event of found)
          yield written(event.type, idOf(events, event.sequence), eventOnWire(event, events));
        cursor = found.length < batch ? Math.max(cursor, last) : (found.at(-1)?.sequence ?? cursor);
        told = found.at(-1)?.sequence ?? told;
        if (found.length > 0 && metricsOf === undefined) due = performance.now() + pauseMs;
        const left = due - performance.now();
        if (left > 0) {
          if (found.length === 0 && events.last === last) await withinTime(events, left, signal);
          continue;
        }
        const metrics = metricsOf === undefined ? undefined : await parts.metrics(metricsOf, signal);
        if (metrics !== undefined) yield writtenMetrics(metrics, metricsOf, idOf(events, cursor));
        // A caller that goes on after what it read last would find that gone, if it does not learn how far it is.
        else yield cursor > told ? written("opened", idOf(events, cursor), {}) : ": silence\n\n";
        told = cursor;
        due = performance.now() + pauseMs;
      }
    } finally {
      open -= 1;
    }
  }

  return {
    streamEvents: ({ query, header, signal }) => {
      const { sandbox_id: sandboxId } = query;
      const types = typesIn(query.types);
      if (sandboxId !== undefined) parts.requireSeen(sandboxId);
      const wantsMetrics = types?.has("sandbox.metrics") ?? false;
      if (wantsMetrics && sandboxId === undefined) throw metricsOfNone();
      const begin = beginOf(header("last-event-id") ?? query.since, events, keyId);
      if (open >= mostStreams) throw tooManyStreams();
      const view = { keyId, sandboxId, types };
      return new Reply(parts.stream(pieces(view, begin, wantsMetrics ? sandboxId : undefined, signal)), {
        "content-type": "text/event-stream",
        "cache-control": "no-store",
      });
    },
  } satisfies Handlers<ControlPlaneContract, unknown, Over>;
}

/** Waits for the next event, at most for so many milliseconds. */
async function withinTime(events: KeptEvents, milliseconds: number, signal: AbortSignal): Promise<void> {
  const late = new AbortController();
  const stop = (): void => late.abort();
  const timer = setTimeout(stop, milliseconds);
  signal.addEventListener("abort", stop);
  await events.next(late.signal);
  clearTimeout(timer);
  signal.removeEventListener("abort", stop);
}

const idOf = ({ epoch }: KeptEvents, sequence: number): string => `${epoch}-${sequence}`;

/** The event as callers get it. */
export function eventOnWire(event: KeptEvent, events: KeptEvents): ControlPlaneSchemas["Event"] {
  const { sequence, type, at, sandboxId, facts } = event;
  return {
    id: idOf(events, sequence),
    type,
    at: at.toISOString(),
    ...(sandboxId !== undefined && { sandbox_id: sandboxId }),
    ...facts,
  };
}

function written(name: string, id: string, data: object): string {
  return `id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

function writtenMetrics(
  metrics: Record<string, unknown>,
  sandboxId: string | undefined,
  position: string,
): string {
  const at = new Date().toISOString();
  return written("sandbox.metrics", position, {
    type: "sandbox.metrics",
    at,
    sandbox_id: sandboxId,
    metrics,
  });
}

const allTypes: readonly EventType[] = [
  "sandbox.created",
  "sandbox.paused",
  "sandbox.resumed",
  "sandbox.stopped",
  "sandbox.started",
  "sandbox.expired",
  "sandbox.failed",
  "sandbox.deleted",
  "sandbox.metrics",
  "execution.started",
  "execution.ended",
  "egress.refused",
  "egress.held",
  "build.started",
  "build.ended",
  "key.revoked",
];

/** The types that a list names, separated by commas. @throws a 400 problem that names one that does not exist. */
function typesIn(list: string | undefined): ReadonlySet<EventType> | undefined {
  if (list === undefined) return undefined;
  const names = list.split(",").map((name) => name.trim());
  const unknown = names.find((name) => !allTypes.some((type) => type === name));
  if (unknown === undefined) return new Set(names as EventType[]);
  const message = `types names ${JSON.stringify(unknown.slice(0, 80))}, which is no type of events.`;
  throw new Problem(400, "INVALID_REQUEST", message, { hint: `Types are ${allTypes.join(", ")}.` });
}

/** The number after which a caller wants events. @throws a 404 problem if some of them are not kept any more. */
function beginOf(since: string | undefined, events: KeptEvents, keyId: string | undefined): number {
  if (since === undefined) return events.last;
  if (since === "0") return events.goneUntil(keyId);
  const [, epoch, digits] = /^([0-9a-f]{8})-(\d{1,15})$/.exec(since) ?? [];
  if (digits === undefined)
    throw new Problem(400, "INVALID_REQUEST", "since must be the id of an event, or 0.", {
      details: { field: "since" },
    });
  const sequence = Number(digits);
  if (epoch === events.epoch && sequence >= events.goneUntil(keyId) && sequence <= events.last)
    return sequence;
  throw new Problem(404, "EVENTS_GONE", "Events after the one in since are not kept any more.", {
    hint: "List the sandboxes to see how they are, and follow from 0 or without since.",
  });
}

const metricsOfNone = (): Problem =>
  new Problem(400, "INVALID_REQUEST", "sandbox.metrics needs a sandbox_id.", {
    details: { field: "sandbox_id" },
  });

const tooManyStreams = (): Problem =>
  new Problem(429, "RESOURCE_LIMIT_ERROR", `This API key follows events ${mostStreams} times already.`, {
    hint: "Close one of the streams first.",
    details: { limit: mostStreams },
  });
