import { isAsleep, type StopReason } from "@cloud-sandbox/server-kit/handlers";
import type { AgentCalls } from "../agents/agent-calls.js";
import { messageOf } from "../errors/message-of.js";
import type { MachineLimits } from "../runtime/sandbox-runtime.js";
import { Deadlines } from "./deadlines.js";
import type { SandboxActivity } from "./sandbox-activity.js";
import type { SandboxLifecycle } from "./sandbox-lifecycle.js";
import { reachableMachine, type SandboxRecord } from "./sandbox-record.js";
import type { SandboxRegistry } from "./sandbox-registry.js";

/** How long an agent may take to tell its executions, and the most bytes in which it may. */
const askMs = 5000;
const mostBytes = 4 * 1024 * 1024;
/** The pause before a sandbox that could not be stopped at its deadline is stopped again. */
const againMs = 60_000;

export interface SleepParts {
  readonly registry: SandboxRegistry;
  readonly lifecycle: SandboxLifecycle;
  readonly agents: AgentCalls;
  readonly activity: SandboxActivity;
  readonly deadlines: Deadlines;
  /** Whether there is memory for one more sandbox with these limits. */
  readonly hasMemory: (limits: MachineLimits) => boolean;
  readonly onSleep?: ((reason: StopReason) => void) | undefined;
  readonly log: (message: string) => void;
}

/** Lets sandboxes sleep at their deadline, and when nobody has used them for their idle time. */
export class SandboxSleep {
  readonly #idle = new Deadlines((id) => void this.#ifIdle(id));

  constructor(private readonly parts: SleepParts) {}

  /** Counts the idle time of a sandbox, from its last use. Call it when the sandbox begins to exist, and when the time was changed. */
  watch(sandbox: SandboxRecord): void {
    const { idleTimeoutSeconds } = sandbox.sleep;
    if (idleTimeoutSeconds === undefined) {
      this.#idle.clear(sandbox.id);
      return;
    }
    const last = sandbox.status === "running" ? this.parts.activity.last(sandbox) : Date.now();
    this.#idle.set(sandbox.id, new Date(last + idleTimeoutSeconds * 1000));
  }

  forget(id: string): void {
    this.#idle.clear(id);
  }

  close(): void {
    this.#idle.clearAll();
  }

  /** Lets a running sandbox sleep whose deadline has passed. If it cannot, it goes on, and that is tried again in a minute. */
  async atDeadline(sandbox: SandboxRecord): Promise<void> {
    const { deadlines, registry, log } = this.parts;
    try {
      // Its deadline may have been moved while earlier steps were under way.
      await this.#sleep(sandbox, "timeout", async () => sandbox.expiresAt.getTime() <= Date.now());
    } catch (error) {
      if (!registry.has(sandbox.id)) return;
      log(`Sandbox ${sandbox.id} has reached its deadline, and goes on for a minute: ${messageOf(error)}`);
      registry.note(sandbox, { expiresAt: new Date(Date.now() + againMs) });
      deadlines.set(sandbox.id, sandbox.expiresAt);
    }
  }

  async #ifIdle(id: string): Promise<void> {
    const { registry, log } = this.parts;
    if (!registry.has(id)) return;
    const sandbox = registry.get(id);
    try {
      if (this.#isUnused(sandbox)) await this.#sleep(sandbox, "idle", () => this.#isIdle(sandbox));
    } catch (error) {
      if (!registry.has(id)) return;
      log(`Sandbox ${id} is idle, and goes on: ${messageOf(error)}`);
      this.parts.activity.note(sandbox);
    }
    if (registry.has(id)) this.watch(sandbox);
  }

  /** Whether nobody has used a running sandbox for its idle time. */
  #isUnused(sandbox: SandboxRecord): boolean {
    const { idleTimeoutSeconds } = sandbox.sleep;
    if (sandbox.status !== "running" || idleTimeoutSeconds === undefined) return false;
    return this.parts.activity.last(sandbox) + idleTimeoutSeconds * 1000 <= Date.now();
  }

  /** The same, after the agent was asked for its executions. What it says is the sandbox's own word, which only keeps it awake. */
  async #isIdle(sandbox: SandboxRecord): Promise<boolean> {
    if (!this.#isUnused(sandbox)) return false;
    this.parts.activity.note(sandbox, await this.#lastExecution(sandbox));
    return this.#isUnused(sandbox);
  }

  /** When the last background execution ended, in milliseconds since 1970: now, while one runs. */
  async #lastExecution(sandbox: SandboxRecord): Promise<number> {
    const { processes } = await this.parts.agents.ask(reachableMachine(sandbox), {
      method: "GET",
      path: "/execute/processes",
      signal: AbortSignal.timeout(askMs),
      maxAnswerBytes: mostBytes,
    });
    const now = Date.now();
    const ends = (Array.isArray(processes) ? processes : []).map((execution: unknown) => {
      const { status, end_time: end } = (execution ?? {}) as Readonly<Record<string, unknown>>;
      return status === "running" ? now : Math.min(now, Date.parse(String(end)) || 0);
    });
    return Math.max(0, ...ends);
  }

  /** Stops a sandbox, or pauses it if its settings say so and there is memory to spare. */
  async #sleep(
    sandbox: SandboxRecord,
    reason: "idle" | "timeout",
    isDue: () => Promise<boolean>,
  ): Promise<void> {
    const { lifecycle, hasMemory, onSleep } = this.parts;
    const isPaused = sandbox.sleep.onTimeout === "pause" && hasMemory(sandbox.template.limits);
    await (isPaused ? lifecycle.pause(sandbox, reason, isDue) : lifecycle.stop(sandbox, reason, isDue));
    if (isAsleep(sandbox.status) && sandbox.stopReason === reason) onSleep?.(reason);
  }
}
