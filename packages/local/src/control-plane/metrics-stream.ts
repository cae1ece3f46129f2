import { setTimeout as sleep } from "node:timers/promises";
import { timeLimit } from "@cloud-sandbox/protocol";
import { Problem } from "@cloud-sandbox/server-kit";
import type { AgentCalls } from "../agents/agent-calls.js";
import { reachableMachine, type SandboxRecord } from "../sandboxes/sandbox-record.js";

const intervalMs = 1000;
const answerLimitMs = 5000;
const streamLimit = 100;

/** Streams the agents' metrics. The next snapshot is requested only after the last one was read, so a slow reader needs no buffer. */
export class MetricsStreams {
  #open = 0;

  constructor(
    private readonly agents: AgentCalls,
    /** Finds a sandbox; throws if it is gone. */
    private readonly find: (id: string) => SandboxRecord,
  ) {}

  /** Server-sent events, one a second, until the sandbox is deleted, stopped or failed. While it is paused, only comments are sent. */
  open(id: string, signal: AbortSignal): AsyncIterable<string> {
    reachableMachine(this.find(id));
    if (this.#open >= streamLimit) {
      const message = `This server has reached its limit of ${streamLimit} open metrics streams.`;
      throw new Problem(429, "RESOURCE_LIMIT_ERROR", message, {
        hint: "Close one of the metrics streams first.",
        details: { limit: streamLimit },
      });
    }
    return this.#events(id, signal);
  }

  async *#events(id: string, signal: AbortSignal): AsyncGenerator<string> {
    this.#open += 1;
    try {
      for (;;) {
        const event = await this.#event(id, signal);
        if (event === undefined || signal.aborted) return;
        yield event;
        await sleep(intervalMs, undefined, { signal }).catch(() => undefined);
      }
    } finally {
      this.#open -= 1;
    }
  }

  /** The next event, a comment if there are no metrics now, or undefined at the end of the stream. */
  async #event(id: string, signal: AbortSignal): Promise<string | undefined> {
    try {
      const sandbox = this.find(id);
      if (sandbox.status === "paused") return ": paused\n\n";
      const limit = timeLimit(answerLimitMs, signal);
      const metrics = await this.agents.readMetrics(reachableMachine(sandbox), limit);
      // Serialize the metrics again: a line break in the agent's text would end the event.
      return `data: ${JSON.stringify(JSON.parse(metrics))}\n\n`;
    } catch {
      // A busy agent may answer the next request. A sandbox that cannot be reached will not: end the stream.
      return this.#isReachable(id) ? ": no answer\n\n" : undefined;
    }
  }

  /** The metrics of a sandbox now. Undefined if there are none: it is paused, stopped or gone, or its agent does not answer. */
  async read(id: string, signal: AbortSignal): Promise<Record<string, unknown> | undefined> {
    try {
      const limit = timeLimit(answerLimitMs, signal);
      return JSON.parse(await this.agents.readMetrics(reachableMachine(this.find(id)), limit));
    } catch {
      return undefined;
    }
  }

  #isReachable(id: string): boolean {
    try {
      const sandbox = this.find(id);
      return sandbox.status === "paused" || reachableMachine(sandbox) !== undefined;
    } catch {
      return false;
    }
  }
}
