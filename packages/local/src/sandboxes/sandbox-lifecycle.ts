import { Problem } from "@cloud-sandbox/server-kit";
import {
  isAsleep,
  type StopReason,
  sandboxFailed,
  sandboxPaused,
  sandboxStopped,
} from "@cloud-sandbox/server-kit/handlers";
import type { EgressGateway } from "../egress/egress-gateway.js";
import { egressRules } from "../egress/egress-policy.js";
import { endsSoon } from "../runtime/ends-soon.js";
import type { Machine } from "../runtime/sandbox-runtime.js";
import type { SandboxFiles, SavedFiles } from "../saved/sandbox-files.js";
import { conflict, problemFrom, SaveLimit } from "../saved/save-limit.js";
import type { KeyCooldowns } from "../tokens/key-ring.js";
import type { Deadlines } from "./deadlines.js";
import type { MachineSupply } from "./machine-supply.js";
import { reachableMachine, type SandboxRecord } from "./sandbox-record.js";
import type { SandboxChange, SandboxRegistry } from "./sandbox-registry.js";
import { type RemovalParts, SandboxRemoval } from "./sandbox-removal.js";
import type { SandboxSlots } from "./sandbox-slots.js";
import { StepQueues } from "./step-queues.js";

export interface LifecycleParts extends Omit<RemovalParts, "steps" | "closing"> {
  readonly registry: SandboxRegistry;
  readonly machines: MachineSupply;
  readonly files: SandboxFiles;
  readonly egress: EgressGateway;
  readonly slots: SandboxSlots;
  readonly deadlines: Deadlines;
  /** Seconds until a sandbox that sleeps is deleted, unless its deadline deletes it anyway. */
  readonly keepStoppedSeconds: number;
  readonly cooldowns: KeyCooldowns;
}

/**
 * Pauses, resumes, stops, starts and removes sandboxes, one step at a time for each sandbox. Asking for the state that a
 * sandbox is already in changes nothing. Removing a sandbox does not wait for a running step: it aborts the step.
 */
export class SandboxLifecycle {
  readonly #steps: StepQueues;
  readonly #closing = new AbortController();
  /** Aborts saves of files for snapshots. */
  readonly #leaving = new AbortController();

  readonly #removal: SandboxRemoval;

  constructor(private readonly parts: LifecycleParts) {
    this.#steps = new StepQueues(parts.registry);
    this.#removal = new SandboxRemoval({ ...parts, steps: this.#steps, closing: this.#closing.signal });
  }

  /** Aborts saves for snapshots, so that the sandboxes can be stopped. */
  endSnapshots(): void {
    this.#leaving.abort(new Error("the control plane is being stopped"));
  }

  /** Aborts running saves of files, and the retries of removals. */
  close(): void {
    this.#closing.abort(new Error("the control plane is being stopped"));
  }

  /** Does nothing if the sandbox does not run, or if `isDue` says so once it is asked. */
  pause(sandbox: SandboxRecord, stopReason: StopReason = "requested", isDue = always): Promise<void> {
    return this.#steps.run(sandbox, async () => {
      if (sandbox.status === "paused" || !(await isDue())) return;
      const machine = reachableMachine(sandbox);
      await machine.pause().catch(async (error: unknown) => {
        await machine.resume();
        throw conflict(
          `Sandbox ${sandbox.id} cannot be paused`,
          error,
          "Delete the sandbox if it must not keep running.",
        );
      });
      await this.#enter(sandbox, this.#asleep(sandbox, "paused", stopReason), () => machine.resume());
    });
  }

  resume(sandbox: SandboxRecord): Promise<void> {
    return this.#steps.run(sandbox, () => this.#resume(sandbox));
  }

  /** Resumes or starts a sandbox, whichever it needs after the steps that are under way. */
  wake(sandbox: SandboxRecord): Promise<void> {
    return this.#steps.run(sandbox, (signal) =>
      sandbox.status === "paused" ? this.#resume(sandbox) : this.#start(sandbox, signal),
    );
  }

  /**
   * Ends the processes and saves the files. If saving fails, the sandbox keeps running, but its processes have ended. Does nothing
   * if `isDue` says so once it is asked.
   */
  stop(sandbox: SandboxRecord, stopReason: StopReason = "requested", isDue = always): Promise<void> {
    const { files, registry } = this.parts;
    return this.#steps.run(sandbox, async (signal) => {
      if (sandbox.status === "stopped" || !(await isDue())) return;
      const machine = this.#machineOf(sandbox);
      if (stopReason !== "shutdown") this.parts.slots.requireStopSlot(sandbox.keyId);
      const limit = new SaveLimit(sandbox.template.limits);
      const givenUp = AbortSignal.any([signal, this.#closing.signal, limit.signal]);
      sandbox.isStopping = true;
      try {
        if (sandbox.status === "paused") await machine.resume();
        await files.save(machine, sandbox.template.limits, givenUp);
        if (!registry.has(sandbox.id)) return;
        const stopped = this.#asleep(sandbox, "stopped", stopReason);
        await this.#record(sandbox, { ...stopped, machine: undefined, failureReason: undefined }, () =>
          files.remove(sandbox.id),
        );
      } catch (error) {
        await this.#checkAlive(sandbox, machine, error, givenUp);
        await machine.resume();
        if (registry.has(sandbox.id) && sandbox.status === "paused")
          registry.note(sandbox, { status: "running" });
        const what = `Sandbox ${sandbox.id} could not be stopped`;
        if (limit.signal.aborted && !(error instanceof Problem)) throw limit.problem(what);
        throw problemFrom(error, what, "Try again, or delete the sandbox.");
      } finally {
        sandbox.isStopping = false;
      }
      this.parts.slots.tellFreed();
      await this.#destroyed(sandbox, machine);
    });
  }

  /** Writes the files of a sandbox to a path. It goes on afterwards: its machine stands still meanwhile, where it has a disk. */
  saveAs(sandbox: SandboxRecord, path: string): Promise<SavedFiles & { readonly stoodStill: boolean }> {
    const { files } = this.parts;
    return this.#steps.run(sandbox, async (signal) => {
      const what = `The files of sandbox ${sandbox.id} could not be kept`;
      const limit = new SaveLimit(sandbox.template.limits);
      const givenUp = AbortSignal.any([signal, this.#leaving.signal, limit.signal]);
      try {
        if (sandbox.status === "stopped")
          return { ...(await files.linkTo(sandbox.id, path)), stoodStill: true };
        const machine = this.#machineOf(sandbox);
        // Its agent packs the files, and is frozen too.
        if (sandbox.status === "paused" && !machine.writeDisk) throw sandboxPaused(sandbox.id);
        const saved = await files.write(machine, path, sandbox.template.limits, {
          signal: givenUp,
          isLive: true,
        });
        return { ...saved, stoodStill: saved.isDisk };
      } catch (error) {
        await this.#checkAlive(sandbox, sandbox.machine, error, givenUp);
        if (limit.signal.aborted && !(error instanceof Problem)) throw limit.problem(what);
        throw problemFrom(error, what, "Try again.");
      }
    });
  }

  /**
   * Starts a sandbox anew with other files, after `prepare`. Until its new machine has started it is as it was, and stays so if that
   * fails.
   */
  restore(
    sandbox: SandboxRecord,
    saved: SavedFiles,
    prepare: (machine: Machine) => Promise<void>,
  ): Promise<void> {
    const { registry, slots } = this.parts;
    return this.#steps.run(sandbox, async (signal) => {
      await registry.requireWritable();
      if (sandbox.status === "error") throw sandboxFailed(sandbox);
      // No wait may come between, or others pass the same check.
      if (!sandbox.machine) slots.requireSlot(sandbox.keyId);
      await this.#boot(sandbox, { signal, saved, prepare });
    });
  }

  /** Changes when a sandbox sleeps. If it sleeps now, and another deadline holds from then on, that begins. */
  update(sandbox: SandboxRecord, wanted: () => Pick<SandboxRecord, "metadata" | "sleep">): Promise<void> {
    return this.#steps.run(sandbox, async () => {
      const change = wanted();
      const isDeleted = change.sleep.onTimeout === "delete";
      const isOther = isDeleted !== (sandbox.sleep.onTimeout === "delete") && isAsleep(sandbox.status);
      const seconds = isDeleted ? sandbox.timeoutSeconds : this.parts.keepStoppedSeconds;
      await this.#record(
        sandbox,
        isOther ? { ...change, expiresAt: secondsFromNow(seconds) } : change,
        async () => undefined,
      );
    });
  }

  /** Ends a sandbox that can neither be stopped nor paused. Its owner reads why until its next deadline. */
  fail(sandbox: SandboxRecord, failureReason: string, isDue = always): Promise<void> {
    return this.#steps.run(sandbox, async () => {
      if (sandbox.status !== "running" || !(await isDue())) return;
      const { machine } = sandbox;
      this.#fail(sandbox, failureReason, { expiresAt: secondsFromNow(this.parts.keepStoppedSeconds) });
      if (machine) await this.#destroyed(sandbox, machine);
    });
  }

  /** Does something that no step of the sandbox may come between. */
  between<Result>(sandbox: SandboxRecord, work: () => Promise<Result>): Promise<Result> {
    return this.#steps.run(sandbox, work);
  }

  /** Looks for the machine of a sandbox that an earlier control plane left running. Later steps wait for that. */
  adopt(sandbox: SandboxRecord, find: () => Promise<Machine | string>): Promise<void> {
    return this.#steps.run(sandbox, async () => {
      const found = await find();
      if (typeof found === "string") {
        if (this.parts.registry.has(sandbox.id)) this.#fail(sandbox, found);
        return;
      }
      this.parts.egress.setRules(sandbox.id, egressRules(sandbox.egress));
      this.parts.egress.setSecrets(sandbox.id, sandbox.secrets ?? []);
      sandbox.machine = found;
      this.watch(sandbox, found);
    });
  }

  /** Lets a machine go on, or stay frozen, for the next control plane. Does nothing if the runtime does not adopt machines. */
  leave(sandbox: SandboxRecord): Promise<void> {
    return this.#steps.run(sandbox, async () => {
      const { machine, status } = sandbox;
      if ((status !== "running" && status !== "paused") || !machine?.leave) return;
      sandbox.machine = undefined;
      await machine.leave();
    });
  }

  /** Boots a fresh machine with the saved files, which include the agent's state. Tokens issued before stay valid. */
  start(sandbox: SandboxRecord): Promise<void> {
    return this.#steps.run(sandbox, (signal) => this.#start(sandbox, signal));
  }

  /** Removes the machine and files of a sandbox that the registry has dropped. */
  remove(sandbox: SandboxRecord): Promise<void> {
    return this.#removal.remove(sandbox);
  }

  /** Marks the sandbox as failed when its machine exits unexpectedly. */
  watch(sandbox: SandboxRecord, machine: Machine): void {
    void machine.exited.then(({ reason, message }) => {
      if (reason === "took_too_much") this.parts.cooldowns.begin(sandbox.keyId);
      if (sandbox.machine !== machine || !this.parts.registry.has(sandbox.id)) return;
      // Why it failed before its machine was ended is the reason that its owner reads.
      if (sandbox.status === "error") return;
      this.#fail(sandbox, message);
    });
  }

  /** If files could not be saved because the machine of the sandbox has ended, throws the problem that says why. */
  async #checkAlive(
    sandbox: SandboxRecord,
    machine: Machine | undefined,
    error: unknown,
    givenUp: AbortSignal,
  ): Promise<void> {
    if (!machine || givenUp.aborted || error instanceof Problem) return;
    if ((await endsSoon(machine)) && sandbox.status === "error") throw sandboxFailed(sandbox);
  }

  async #resume(sandbox: SandboxRecord): Promise<void> {
    if (sandbox.status === "running") return;
    const machine = this.#machineOf(sandbox);
    await machine.resume();
    await this.#enter(sandbox, awake(sandbox), () => machine.pause());
  }

  async #start(sandbox: SandboxRecord, signal: AbortSignal): Promise<void> {
    const { registry, slots, files } = this.parts;
    if (sandbox.status === "running") return;
    if (sandbox.status === "paused") throw sandboxPaused(sandbox.id);
    if (sandbox.status === "error") throw sandboxFailed(sandbox);
    await registry.requireWritable();
    const saved = await files.of(sandbox.id);
    // No wait may come between, or others pass the same check.
    slots.requireSlot(sandbox.keyId);
    await this.#boot(sandbox, { signal, saved });
  }

  /** Boots a machine for a sandbox with saved files, in place of the one that it has, if any. */
  async #boot(sandbox: SandboxRecord, { signal, saved, prepare }: BootParts): Promise<void> {
    const { files, machines, egress, registry, deadlines } = this.parts;
    const { id, status, machine: former, restores = 0 } = sandbox;
    const settings = { ...sandbox, restores: former ? restores + 1 : restores };
    if (!former) sandbox.status = "creating";
    let machine: Machine | undefined;
    try {
      machine = await machines.boot(sandbox.template, id, saved, settings);
      egress.setRules(id, egressRules(sandbox.egress));
      egress.setSecrets(id, sandbox.secrets ?? []);
      await prepare?.(machine);
      signal.throwIfAborted();
      // What it was is removed only after this is recorded. If recording fails, it is that again; nobody has used the new machine yet,
      // so nothing is lost.
      await registry.change(sandbox, {
        ...awake(sandbox),
        machine,
        restores: settings.restores,
        ...(sandbox.secrets && { authority: egress.authorityId }),
      });
    } catch (error) {
      if (!former) sandbox.status = status;
      await machine?.destroy();
      if (error instanceof Problem) throw former ? withoutRoomForTwo(error) : error;
      const hint = `The sandbox is ${former ? "as it was" : "still stopped"}. Try again.`;
      throw conflict(`Sandbox ${id} could not be started`, error, hint);
    }
    deadlines.set(id, sandbox.expiresAt);
    this.watch(sandbox, machine);
    if (former) await this.#destroyed(sandbox, former);
    else await files.remove(id);
  }

  /** What changes when a sandbox begins to sleep. Unless it is deleted at its deadline, it has another one then. */
  #asleep(
    { sleep }: SandboxRecord,
    status: "paused" | "stopped",
    stopReason: StopReason,
  ): Pick<SandboxRecord, "status" | "stopReason"> & Partial<Pick<SandboxRecord, "expiresAt">> {
    if (sleep.onTimeout === "delete") return { status, stopReason };
    return { status, stopReason, expiresAt: secondsFromNow(this.parts.keepStoppedSeconds) };
  }

  #fail(
    sandbox: SandboxRecord,
    failureReason: string,
    more: Partial<Pick<SandboxRecord, "expiresAt">> = {},
  ): void {
    this.parts.registry.note(sandbox, { ...more, status: "error", failureReason });
    this.parts.slots.tellFreed();
  }

  /** Ends a machine. What it leaves on the host is no reason to say that its sandbox was not stopped. */
  async #destroyed({ id }: SandboxRecord, machine: Machine): Promise<void> {
    await machine
      .destroy()
      .catch((error: unknown) =>
        this.parts.log(`Something of the machine of sandbox ${id} remains: ${error}`),
      );
  }

  #machineOf(sandbox: SandboxRecord): Machine {
    if (sandbox.status === "error") throw sandboxFailed(sandbox);
    if (sandbox.machine === undefined) throw sandboxStopped(sandbox.id);
    return sandbox.machine;
  }

  async #enter(sandbox: SandboxRecord, change: SandboxChange, undo: () => Promise<void>): Promise<void> {
    // If the machine exited meanwhile, the sandbox has failed: do not overwrite its status.
    if (sandbox.status === "error") throw sandboxFailed(sandbox);
    await this.#record(sandbox, change, undo);
  }

  /** Saves a change that was made to the machine, or undoes the change if it cannot be saved. */
  async #record(sandbox: SandboxRecord, change: SandboxChange, undo: () => Promise<void>): Promise<void> {
    try {
      await this.parts.registry.change(sandbox, change);
    } catch (error) {
      await undo();
      throw error;
    }
    if (change.expiresAt) this.parts.deadlines.set(sandbox.id, change.expiresAt);
  }
}

/** With what a machine is booted. */
interface BootParts {
  readonly signal: AbortSignal;
  readonly saved: SavedFiles;
  /** Done before anybody can use the machine. */
  readonly prepare?: (machine: Machine) => Promise<void>;
}

/** Says how to restore a sandbox where there is no memory for two machines of it. */
function withoutRoomForTwo(problem: Problem): Problem {
  if (problem.code !== "RESOURCE_LIMIT_ERROR") return problem;
  const message = `A running sandbox has two machines for a moment when it is restored. ${problem.summary}`;
  return new Problem(409, "CONFLICT", message, { hint: "Stop the sandbox, and restore it then." });
}

const always = async (): Promise<boolean> => true;

const secondsFromNow = (seconds: number): Date => new Date(Date.now() + seconds * 1000);

/** What changes when a sandbox runs again. Unless it is deleted at its deadline, it has its whole lifetime before it. */
const awake = ({ sleep, timeoutSeconds }: SandboxRecord) =>
  ({
    status: "running",
    stopReason: undefined,
    failureReason: undefined,
    ...(sleep.onTimeout !== "delete" && { expiresAt: secondsFromNow(timeoutSeconds) }),
  }) as const;
