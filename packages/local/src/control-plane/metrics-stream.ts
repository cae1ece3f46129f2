import { setTimeout as sleep } from "node:timers/promises";
import { Problem } from "@cloud-sandbox/server-kit";
import type { AgentCalls } from "../agents/agent-calls.js";
import { reachableMachine, type SandboxRecord } from "../sandboxes/sandbox-record.js";

const intervalMs = 1000;
const answerLimitMs = 5000;
const streamLimit = 100;

/** Streams of the agents' figures. The next are asked for when the last were read, so that a slow reader costs nothing. */
export class MetricsStreams {
  #open = 0;

  constructor(
    private readonly agents: AgentCalls,
    /** Throws once the sandbox is gone. */
    private readonly find: (id: string) => SandboxRecord,
  ) {}

  /** Server-sent events, one a second, until the sandbox is gone, stopped or broken. A paused one is silent. */
  open(id: string, signal: AbortSignal): AsyncIterable<string> {
    reachableMachine(this.find(id));
    if (this.#open >= streamLimit) {
      const message = `This machine follows the metrics of at most ${streamLimit} sandboxes at a time. Close a stream first.`;
      throw new Problem(429, "RESOURCE_LIMIT_ERROR", message, { details: { limit: streamLimit } });
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

  /** The next event, a comment where there is nothing to tell, or undefined at the end. */
  async #event(id: string, signal: AbortSignal): Promise<string | undefined> {
    try {
      const sandbox = this.find(id);
      if (sandbox.status === "paused") return ": paused\n\n";
      const limit = AbortSignal.any([signal, AbortSignal.timeout(answerLimitMs)]);
      const figures = await this.agents.readMetrics(reachableMachine(sandbox), limit);
      // On one line, whatever answered.
      return `data: ${JSON.stringify(JSON.parse(figures))}\n\n`;
    } catch {
      // Of a busy agent there will be figures again; of a sandbox that cannot be reached there will not.
      return this.#isReachable(id) ? ": no answer\n\n" : undefined;
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
