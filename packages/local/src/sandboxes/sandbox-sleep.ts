import { isAsleep, type StopReason } from "@cloud-sandbox/server-kit/handlers";
import type { AgentCalls } from "../agents/agent-calls.js";
import { messageOf } from "../errors/message-of.js";
import type { MachineLimits } from "../runtime/sandbox-runtime.js";
import { Deadlines } from "./deadlines.js";
import type { SandboxActivity } from "./sandbox-activity.js";
import type { SandboxLifecycle } from "./sandbox-lifecycle.js";
import { hasFailed, reachableMachine, type SandboxRecord } from "./sandbox-record.js";
import type { SandboxRegistry } from "./sandbox-registry.js";

/** How long an agent may take to tell its executions, and the most bytes in which it may. */
const askMs = 5000;
const mostBytes = 4 * 1024 * 1024;
/** A sandbox that cannot be stopped at its deadline is tried again after these pauses, which double from the first to the longest. */
const firstPauseMs = 60_000;
const longestPauseMs = 3_600_000;
/** The attempt to stop it after which it is paused instead. */
const lastStop = 3;

/** Attempts to let a sandbox sleep at its deadline, all of which have failed. */
interface Attempts {
  readonly count: number;
  /** When the first one failed, in milliseconds since 1970. */
  readonly since: number;
  /** The deadline at which the next one is made. Another one was set by the owner, and counts anew. */
  readonly next: Date;
}

export interface SleepParts {
  readonly registry: SandboxRegistry;
  readonly lifecycle: SandboxLifecycle;
  readonly agents: AgentCalls;
  readonly activity: SandboxActivity;
  readonly deadlines: Deadlines;
  /** Whether there is memory for one more sandbox with these limits. */
  readonly hasMemory: (limits: MachineLimits) => boolean;
  /** Seconds until a sandbox that sleeps is deleted, which one that cannot sleep does not outlive. */
  readonly keepStoppedSeconds: number;
  readonly onSleep?: ((reason: StopReason) => void) | undefined;
  readonly log: (message: string) => void;
}

/** Lets sandboxes sleep at their deadline, and when nobody has used them for their idle time. */
export class SandboxSleep {
  readonly #idle = new Deadlines((id) => void this.#ifIdle(id));
  readonly #attempts = new WeakMap<SandboxRecord, Attempts>();

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

  /** Lets a running sandbox sleep whose deadline has passed. If it cannot, its next deadline follows soon. */
  async atDeadline(sandbox: SandboxRecord): Promise<void> {
    const { deadlines, log, registry } = this.parts;
    try {
      await this.#sleep(sandbox, "timeout", async () => isDue(sandbox)).catch((error: unknown) =>
        this.#failed(sandbox, messageOf(error)),
      );
    } catch (error) {
      log(`Sandbox ${sandbox.id} has reached its deadline: ${messageOf(error)}`);
    }
    // It passes again if the settings were changed to delete the sandbox while earlier steps were under way.
    if (registry.has(sandbox.id)) deadlines.set(sandbox.id, sandbox.expiresAt);
  }

  /**
   * Code may be the reason why its sandbox cannot be stopped, for example with too many files, and must not run for ever. So the
   * sandbox is paused after some attempts. If it cannot be paused either, it fails when it would have been deleted in its sleep.
   */
  async #failed(sandbox: SandboxRecord, reason: string): Promise<void> {
    const { keepStoppedSeconds, lifecycle, log, registry } = this.parts;
    const isOver = (): boolean => !registry.has(sandbox.id) || isAsleep(sandbox.status) || !isDue(sandbox);
    if (isOver()) return;
    const earlier = this.#attempts.get(sandbox);
    const isAgain = earlier?.next === sandbox.expiresAt;
    const { count, since } = isAgain ? earlier : { count: 0, since: Date.now() };
    if (!hasFailed(sandbox)) {
      const failureReason = `The sandbox could not be stopped at its deadline: ${reason}`;
      registry.note(sandbox, { failureReason });
      if (count + 1 >= lastStop) await this.#pauseInstead(sandbox);
      if (isOver()) return;
      if (Date.now() - since >= keepStoppedSeconds * 1000)
        return lifecycle.fail(sandbox, `${failureReason} It could not be paused either.`, async () =>
          isDue(sandbox),
        );
    }
    const next = new Date(Date.now() + Math.min(firstPauseMs * 2 ** count, longestPauseMs));
    this.#attempts.set(sandbox, { count: count + 1, since, next });
    registry.note(sandbox, { expiresAt: next });
    log(`Sandbox ${sandbox.id} has reached its deadline, and goes on until ${next.toISOString()}: ${reason}`);
  }

  async #pauseInstead(sandbox: SandboxRecord): Promise<void> {
    const { lifecycle, log } = this.parts;
    try {
      await lifecycle.pause(sandbox, "timeout", async () => isDue(sandbox));
      log(`Sandbox ${sandbox.id} is paused. ${sandbox.failureReason ?? ""}`);
      this.#tell(sandbox, "timeout");
    } catch (error) {
      log(`Sandbox ${sandbox.id} cannot be paused instead of stopped: ${messageOf(error)}`);
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

  /** Stops a sandbox, or pauses it if its settings say so, it can be paused, and there is memory to spare. */
  async #sleep(
    sandbox: SandboxRecord,
    reason: "idle" | "timeout",
    isDue: () => Promise<boolean>,
  ): Promise<void> {
    const { lifecycle, hasMemory, log } = this.parts;
    const isPaused = sandbox.sleep.onTimeout === "pause" && hasMemory(sandbox.template.limits);
    const stop = (): Promise<void> => lifecycle.stop(sandbox, reason, isDue);
    if (isPaused)
      await lifecycle.pause(sandbox, reason, isDue).catch((error: unknown) => {
        log(`Sandbox ${sandbox.id} cannot be paused, and is stopped: ${messageOf(error)}`);
        return stop();
      });
    else await stop();
    this.#tell(sandbox, reason);
  }

  #tell(sandbox: SandboxRecord, reason: "idle" | "timeout"): void {
    if (isAsleep(sandbox.status) && sandbox.stopReason === reason) this.parts.onSleep?.(reason);
  }
}

/** Whether a sandbox is to sleep now, by its deadline and its settings. */
const isDue = ({ expiresAt, sleep }: SandboxRecord): boolean =>
  expiresAt.getTime() <= Date.now() && sleep.onTimeout !== "delete";
