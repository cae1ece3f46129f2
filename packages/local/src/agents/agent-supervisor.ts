import { setTimeout as delay } from "node:timers/promises";
import { answersHealth } from "../runtime/agent-health.js";
import type { Machine } from "../runtime/sandbox-runtime.js";

/** Milliseconds. */
export interface Patience {
  /** A call may last so long before the kernel is asked whether the agent was stopped; so long is between two times, too. */
  readonly look: number;
  /** The same for asking the agent itself whether it is there, which costs more. */
  readonly silence: number;
  /** What the agent is given to answer that, each time it is asked in a row. A busy machine is slow, not dead. */
  readonly probes: readonly number[];
}

const defaultPatience: Patience = { look: 250, silence: 3000, probes: [2000, 15_000] };

/**
 * Sees to it that no call waits for an agent that cannot answer, because code in the sandbox has stopped it or made it
 * hang. An execution may be silent for as long as it may last, so silence alone ends nothing: the agent is asked on
 * another connection, and has to start anew when it does not answer there either. One that was stopped is not asked.
 */
export class AgentSupervisor {
  #waiting = 0;
  #isWatching = false;
  #isAsking = false;

  constructor(
    private readonly machine: Pick<
      Machine,
      "id" | "agentAddress" | "isPaused" | "isAgentStopped" | "restartAgent"
    >,
    private readonly log: (message: string) => void,
    private readonly patience: Patience = defaultPatience,
  ) {}

  /** Passes on what the agent is to bring about: an answer, or the end of one. */
  async attend<Answer>(answer: Promise<Answer>): Promise<Answer> {
    let isLong = false;
    const timer = setTimeout(() => {
      isLong = true;
      this.#waiting += 1;
      if (!this.#isWatching) void this.#watch();
    }, this.patience.look).unref();
    try {
      return await answer;
    } finally {
      clearTimeout(timer);
      if (isLong) this.#waiting -= 1;
    }
  }

  async #watch(): Promise<void> {
    const { look, silence } = this.patience;
    this.#isWatching = true;
    for (let asked = performance.now() - look; this.#waiting > 0; ) {
      const isTime = performance.now() - asked >= silence;
      if (isTime) asked = performance.now();
      await this.#look(isTime).catch(this.#tell);
      await delay(look, undefined, { ref: false });
    }
    this.#isWatching = false;
  }

  async #look(ask: boolean): Promise<void> {
    const { machine } = this;
    if (!machine.isPaused && (await machine.isAgentStopped())) return this.#restart();
    if (!ask || this.#isAsking) return;
    this.#isAsking = true;
    // Not waited for: the agent may be stopped meanwhile.
    void this.#hangs()
      .then((hangs) => (hangs ? this.#restart() : undefined))
      .catch(this.#tell)
      .finally(() => {
        this.#isAsking = false;
      });
  }

  readonly #tell = (error: unknown): void =>
    this.log(`The agent of sandbox ${this.machine.id} cannot be looked after: ${String(error)}`);

  async #restart(): Promise<void> {
    await this.machine.restartAgent();
    this.log(`The agent of sandbox ${this.machine.id} did not answer any more and starts anew.`);
  }

  async #hangs(): Promise<boolean> {
    for (const limit of this.patience.probes) {
      if (this.machine.isPaused) return false;
      const signal = AbortSignal.timeout(limit);
      const answers = await answersHealth(this.machine.agentAddress, signal).then(
        () => true,
        () => false,
      );
      if (answers || this.machine.isPaused) return false;
      // It broke the connection off: it has ended, and is being started.
      if (!signal.aborted) return false;
    }
    return true;
  }
}
