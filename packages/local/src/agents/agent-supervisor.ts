import { setTimeout as delay } from "node:timers/promises";
import { answersHealth } from "../runtime/agent-health.js";
import type { Machine } from "../runtime/sandbox-runtime.js";

/** When and how often an agent with open calls is checked. */
export interface SupervisionTiming {
  /** A call that is open this long makes the supervisor ask the kernel whether the agent was stopped (SIGSTOP), at this interval. */
  readonly stoppedCheckMs: number;
  /** The interval of health checks over HTTP, which cost more. */
  readonly healthCheckMs: number;
  /** Time limits of consecutive health checks. The agent counts as hung when it misses all: a busy machine is slow, not dead. */
  readonly healthLimitsMs: readonly number[];
}

const defaultTiming: SupervisionTiming = {
  stoppedCheckMs: 250,
  healthCheckMs: 3000,
  healthLimitsMs: [2000, 15_000],
};

/**
 * Restarts an agent that code in the sandbox has stopped or made hang, so that no call waits for the agent forever. A call
 * without output does not prove that the agent hangs, because an execution may print nothing. So the supervisor sends a
 * health check on another connection, and restarts the agent if that fails. A stopped agent is restarted without a check.
 */
export class AgentSupervisor {
  #waiting = 0;
  #isWatching = false;
  #isCheckingHealth = false;

  constructor(
    private readonly machine: Pick<
      Machine,
      "id" | "agentAddress" | "isPaused" | "isAgentStopped" | "restartAgent"
    >,
    private readonly log: (message: string) => void,
    private readonly timing: SupervisionTiming = defaultTiming,
  ) {}

  /** Checks the agent while `answer`, which the agent must settle, is pending. Resolves as `answer` does. */
  async supervise<Answer>(answer: Promise<Answer>): Promise<Answer> {
    let isLong = false;
    const timer = setTimeout(() => {
      isLong = true;
      this.#waiting += 1;
      if (!this.#isWatching) void this.#watch();
    }, this.timing.stoppedCheckMs).unref();
    try {
      return await answer;
    } finally {
      clearTimeout(timer);
      if (isLong) this.#waiting -= 1;
    }
  }

  async #watch(): Promise<void> {
    const { stoppedCheckMs, healthCheckMs } = this.timing;
    this.#isWatching = true;
    for (let lastHealthCheck = performance.now() - stoppedCheckMs; this.#waiting > 0; ) {
      const isHealthCheckDue = performance.now() - lastHealthCheck >= healthCheckMs;
      if (isHealthCheckDue) lastHealthCheck = performance.now();
      await this.#check(isHealthCheckDue).catch(this.#logFailure);
      await delay(stoppedCheckMs, undefined, { ref: false });
    }
    this.#isWatching = false;
  }

  async #check(withHealth: boolean): Promise<void> {
    const { machine } = this;
    if (!machine.isPaused && (await machine.isAgentStopped())) return this.#restart();
    if (!withHealth || this.#isCheckingHealth) return;
    this.#isCheckingHealth = true;
    // Do not await the health check: it takes seconds, and the agent may be stopped meanwhile, which the next check
    // finds.
    void this.#hangs()
      .then((hangs) => (hangs ? this.#restart() : undefined))
      .catch(this.#logFailure)
      .finally(() => {
        this.#isCheckingHealth = false;
      });
  }

  readonly #logFailure = (error: unknown): void =>
    this.log(`The agent of sandbox ${this.machine.id} could not be checked or restarted: ${String(error)}`);

  async #restart(): Promise<void> {
    await this.machine.restartAgent();
    this.log(`The agent of sandbox ${this.machine.id} no longer answered and was restarted.`);
  }

  async #hangs(): Promise<boolean> {
    for (const limit of this.timing.healthLimitsMs) {
      if (this.machine.isPaused) return false;
      const signal = AbortSignal.timeout(limit);
      await answersHealth(this.machine.agentAddress, signal).catch(() => undefined);
      // The health check ended within its limit. Either the agent answered, or the agent exited and closed the
      // connection; in that case the machine's process 1 restarts the agent by itself.
      if (!signal.aborted || this.machine.isPaused) return false;
    }
    return true;
  }
}
