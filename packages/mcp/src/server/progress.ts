/** Passes on to the client what a call reports while it runs: its progress, and the log messages of another MCP server. */
import type { ServerContext } from "@modelcontextprotocol/server";
import { cutMiddle } from "../results/output-limit.js";
import type { LogMessage, Measured } from "../servers/running-server.js";

/** Milliseconds between two reports of another MCP server that are passed on. What comes in between is told with the next one. */
const leastBetween = 50;
/** Milliseconds between reports while nothing new happens: clients wait longer for a call that reports progress. */
const usualHeartbeat = 5_000;

type Send = (progress: number, message: string, total?: number) => void;

/**
 * Progress that a step without a measure adds. Small, because progress must not decrease: so the measured progress of a
 * later step can be sent unchanged.
 */
const smallStep = 0.001;

export class Progress {
  readonly #notify: Send;
  readonly #startedAt = performance.now();
  readonly #timer: NodeJS.Timeout;
  #count = 0;
  #total: number | undefined;
  #unit = 1;
  #step = "Working";
  #relayedAt = Number.NEGATIVE_INFINITY;

  constructor(notify: Send, heartbeat = usualHeartbeat) {
    this.#notify = notify;
    this.#timer = setInterval(() => this.#beat(), heartbeat).unref();
  }

  /** Reports the current step, and its progress if another MCP server has measured it. */
  report(step: string, measured?: Measured): void {
    this.#step = step;
    const now = performance.now();
    if (measured !== undefined && now - this.#relayedAt < leastBetween) return;
    if (measured !== undefined) this.#relayedAt = now;
    if (measured !== undefined) {
      this.#unit = smallStep;
      this.#total = measured.total;
    }
    this.#send(step, measured?.progress);
    this.#timer.refresh();
  }

  /** From now on, each step adds only {@link smallStep}. */
  countLess(): this {
    this.#unit = smallStep;
    return this;
  }

  /** Stops the reports: none may follow the answer of the call. */
  end(): void {
    clearInterval(this.#timer);
  }

  #beat(): void {
    const seconds = Math.round((performance.now() - this.#startedAt) / 1000);
    this.#send(`${this.#step} (${seconds} s since the call)`);
  }

  /** Sends a report. Each one adds to the count, because the number of steps is unknown and progress must increase. */
  #send(message: string, measured = 0): void {
    this.#count = Math.max(this.#count + this.#unit, measured);
    this.#notify(this.#count, message, this.#total);
  }
}

/** The progress of one call. Undefined when its caller did not ask for it. */
export function progressOf({ mcpReq }: ServerContext): Progress | undefined {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  return new Progress((progress, message, total) => {
    const params = { progressToken, progress, message, ...(total !== undefined && { total }) };
    // Ignore an error: the caller may have disconnected, and the work must not fail because of that.
    mcpReq.notify({ method: "notifications/progress", params }).catch(() => undefined);
  });
}

/** Log messages of one call, and bytes of one message: a server may send any number. */
const mostMessages = 500;
const mostBytes = 10_000;

/** Sends the log messages of another MCP server to the client that made the call, if it asked for messages of their level. */
export function relayedLog({ mcpReq }: ServerContext): (message: LogMessage) => void {
  let count = 0;
  return ({ data, level, logger }) => {
    count += 1;
    if (count > mostMessages + 1) return;
    const sent =
      count > mostMessages
        ? mcpReq.log("warning", "Further messages are left out.")
        : mcpReq.log(level, shown(data), logger);
    // Ignore an error: the client may have disconnected, and the call must not fail because of that.
    sent.catch(() => undefined);
  };
}

function shown(data: unknown): unknown {
  const text = typeof data === "string" ? data : (JSON.stringify(data) ?? "");
  const { text: cut } = cutMiddle(text, mostBytes);
  return cut === text ? data : cut;
}
