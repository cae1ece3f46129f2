import type { ChildProcess } from "node:child_process";
import { mkdir, rm } from "node:fs/promises";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { type AgentAddress, answersHealth } from "../agent-health.js";
import type { KernelWatch } from "../host/kernel-watch.js";
import type { MachineGroup } from "../host/machine-group.js";
import { isOutOfDescriptors } from "../host/open-files.js";
import { startPiped } from "../host/piped-program.js";
import { processTree, signalIfThere, stopProcessTree } from "../host/process-tree.js";
import { HostProblemError, hostProblemIn } from "../host-problem.js";
import {
  type DiskTarget,
  type IsolationLevel,
  type Machine,
  type MachineExit,
  type MachineSpec,
  mostMemoryMb,
  type OpenedCopy,
} from "../sandbox-runtime.js";
import { AgentProcess } from "./agent-process.js";
import { enterGroups } from "./launch/launch-command.js";
import { readInitPid } from "./user-namespace.js";
import { diskCount, type WritableRoot } from "./writable-root.js";
import { writeOutput } from "./written-output.js";

const bootLimitMs = 20_000;
/** Milliseconds that the boot limit grows for each gibibyte of disk that may have to be unpacked. */
const unpackLimitMs = 20_000;
const keptErrorOutput = 4096;
/** Milliseconds that a killed machine may take to end before its processes are killed one by one, and between two attempts. */
const killRetryMs = 1000;

export class BubblewrapMachine implements Machine {
  readonly id: string;
  readonly isolation: IsolationLevel = "namespace";
  readonly agentAddress: AgentAddress;
  readonly exited: Promise<MachineExit>;
  readonly #parts: MachineParts;
  /** The host's process id of the machine's process 1. */
  readonly #init: Promise<number | undefined>;
  /** The cleanups that are still to be run. */
  #cleanups: readonly (() => Promise<void>)[];
  /** Processes outside the machine that read its files. */
  readonly #readers = new Set<{ kill(signal: "SIGKILL"): unknown }>();
  readonly #uidsMapped: Promise<void>;
  readonly #agent: Promise<AgentProcess | undefined>;
  #errorOutput = "";
  /** What code in the machine has done for which it was ended. */
  #overuse: string | undefined;
  #isDestroyed = false;
  #isPaused = false;

  constructor(parts: MachineParts) {
    this.#parts = parts;
    this.#cleanups = parts.cleanups;
    this.id = parts.spec.id;
    this.agentAddress = { path: parts.socketPath };
    this.#init = readInitPid(parts.information);
    this.#agent = this.#init.then((init) => (init === undefined ? undefined : new AgentProcess(init)));
    this.#uidsMapped = this.#mapUids();
    // A failure is reported by booted().
    this.#uidsMapped.catch(() => undefined);
    parts.child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
      this.#errorOutput = (this.#errorOutput + chunk).slice(-keptErrorOutput);
    });
    this.exited = this.#end();
    // Thaw the machine when bubblewrap has exited: frozen processes do not die with their parent, so it would never end.
    parts.child.once("exit", () => {
      if (this.#isPaused) this.#setFrozen(false).catch(() => undefined);
    });
    void this.#init.then((init) => {
      if (init === undefined || !this.#isRunning()) return;
      parts.group.adopt(init);
      const unwatch = parts.kernel.watch({ init, end: (message) => this.#endFor(message) });
      parts.child.once("exit", unwatch);
    });
  }

  /** Resolves when the agent answers; rejects, with nothing left behind, when it does not. */
  async booted(): Promise<void> {
    const { disk, limits } = this.#parts.spec;
    // Timers take whole milliseconds only.
    const limitMs =
      bootLimitMs + (disk === undefined ? 0 : Math.ceil((unpackLimitMs * limits.diskMb) / 1024));
    const giveUp = AbortSignal.timeout(limitMs);
    try {
      await Promise.race([
        Promise.all([this.#uidsMapped, answersHealth(this.agentAddress, giveUp)]),
        this.exited.then(({ message }) => {
          throw new Error(`The machine ended while booting: ${this.#errorOutput.trim() || message}`);
        }),
      ]);
    } catch (error) {
      await this.destroy();
      if (isOutOfDescriptors(error)) throw error;
      const errorOutput = this.#errorOutput.trim();
      const problem = hostProblemIn(errorOutput);
      if (problem) throw new HostProblemError(problem);
      if (giveUp.aborted)
        throw new Error(
          `The machine's agent did not answer within ${limitMs / 1000} s${errorOutput && `: ${errorOutput}`}`,
        );
      const { memoryMb } = limits;
      const detail = errorOutput || (error instanceof Error ? error.message : String(error));
      throw new Error(`The machine's agent ended while it booted, with ${memoryMb} MiB of memory: ${detail}`);
    }
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  async pause(): Promise<void> {
    await this.#setFrozen(true);
  }

  async resume(): Promise<void> {
    await this.#setFrozen(false);
  }

  async isAgentStopped(): Promise<boolean> {
    const agent = await this.#agent;
    return agent !== undefined && this.#isRunning() && agent.isStopped();
  }

  async restartAgent(): Promise<void> {
    const agent = await this.#agent;
    if (this.#isRunning() && !this.#isPaused) agent?.kill();
  }

  get writeDisk(): ((target: DiskTarget) => Promise<void>) | undefined {
    return this.#parts.root && ((target) => this.#writeDisk(target));
  }

  async #writeDisk(target: DiskTarget): Promise<void> {
    const { root, child, group } = this.#parts;
    const { signal } = target;
    signal.throwIfAborted();
    if (!root || child.pid === undefined) throw new Error("This machine has no disk of its own.");
    // Code in the machine decides how many files there are to read. So the reader runs in the machine's control group,
    // and its CPU time and memory count towards the machine's limits.
    const output = writeOutput([...enterGroups(group.helperFiles), ...root.read(child.pid)], target);
    this.#readers.add(output);
    signal.addEventListener("abort", output.kill);
    try {
      await output.done;
    } finally {
      signal.removeEventListener("abort", output.kill);
      this.#readers.delete(output);
      signal.throwIfAborted();
    }
    if (!this.#isRunning() || !this.#isPaused)
      throw new Error(`the disk of sandbox ${this.id} could not be read: it has ended`);
  }

  readCopy(target: string, program: readonly [string, ...string[]]): OpenedCopy {
    const { root, child, group, spec } = this.#parts;
    if (!root || child.pid === undefined) throw new Error("This machine has no disk of its own.");
    const places = root.copyPlaces(spec.mounts ?? [], target);
    // In the machine's control group, as what reads its disk.
    const command = [...enterGroups(group.helperFiles), ...root.inMountsOf(child.pid), ...program];
    const reader = startPiped(command, { PATH: process.env.PATH });
    this.#readers.add(reader);
    reader.once("close", () => this.#readers.delete(reader));
    return { places, program: reader };
  }

  async keep(): Promise<void> {
    const { spec, child } = this.#parts;
    if (spec.keepIn === undefined)
      throw new Error("The files of this machine cannot be kept, because it was started without keepIn.");
    // Create the directory before the machine ends: its start script copies the files then only if the directory exists.
    await mkdir(spec.keepIn, { mode: 0o700 });
    await this.destroy();
    if (child.exitCode === 0) return;
    await rm(spec.keepIn, { recursive: true, force: true });
    throw new Error(`The files that the machine wrote could not be saved: ${this.#errorOutput.trim()}`);
  }

  async destroy(): Promise<void> {
    if (!this.#isDestroyed) {
      this.#isDestroyed = true;
      await this.#kill();
    }
    await this.exited;
    await this.#clean();
  }

  /** Ends the machine because of what its code has done. */
  #endFor(message: string): void {
    this.#overuse = message;
    this.#kill().catch(() => undefined);
  }

  async #kill(): Promise<void> {
    void this.#killUntilEnded();
    for (const reader of this.#readers) reader.kill("SIGKILL");
    const init = await Promise.race([this.#init, sleep(killRetryMs, undefined, { ref: false })]);
    // Kill process 1: the kernel then kills all other processes of the machine. Its pid cannot belong to another
    // process by now, because its parent, bubblewrap, is still running and has not reaped it.
    if (init !== undefined && this.#isRunning()) signalIfThere(init, "SIGKILL");
    else this.#parts.child.kill("SIGKILL");
    // A process that was killed while frozen dies only when its group is thawed.
    if (this.#isPaused) await this.#setFrozen(false);
  }

  /** Kills the remaining processes and thaws the group until the machine ends: somebody on the host may have stopped or frozen them. */
  async #killUntilEnded(): Promise<void> {
    const { child, group } = this.#parts;
    await Promise.race([this.exited, sleep(killRetryMs, undefined, { ref: false })]);
    while (this.#isRunning() && child.pid !== undefined) {
      if (group.canFreeze) await group.freeze(false).catch(() => undefined);
      const tree = await processTree(child.pid).catch(() => []);
      for (const { pid, state } of tree)
        if (/[Tt]/.test(state) && this.#isRunning()) signalIfThere(pid, "SIGKILL");
      await sleep(killRetryMs, undefined, { ref: false });
    }
  }

  /** Runs the cleanups that are still to be run. Rejects if one of them fails; may be called again. */
  async #clean(): Promise<void> {
    const outcomes = await Promise.allSettled(this.#cleanups.map((cleanup) => cleanup()));
    this.#cleanups = this.#cleanups.filter((_, index) => outcomes[index]?.status === "rejected");
    const failed = outcomes.find((outcome) => outcome.status === "rejected");
    if (failed) throw failed.reason;
  }

  async #setFrozen(frozen: boolean): Promise<void> {
    const init = await this.#init;
    if (init === undefined || (frozen && !this.#isRunning())) return;
    // The machine counts as paused until all of its processes run again, so that the supervisor does not take a process
    // that is still frozen for one that hangs.
    this.#isPaused = true;
    const { group } = this.#parts;
    const freeze = (on: boolean) => (group.canFreeze ? group.freeze(on) : stopProcessTree(init, on));
    try {
      await freeze(frozen);
      if (frozen && !this.#isRunning()) await freeze(false);
    } catch (error) {
      // If the machine has ended, its group is missing: `exited` reports the end.
      if (this.#isRunning()) throw error;
    }
    this.#isPaused = frozen && this.#isRunning();
  }

  async #mapUids(): Promise<void> {
    const init = await this.#init;
    // Without a pid the machine has ended, which `exited` reports.
    if (init !== undefined) await this.#parts.mapUids?.(init);
  }

  #isRunning(): boolean {
    return this.#parts.child.exitCode === null && this.#parts.child.signalCode === null;
  }

  async #end(): Promise<MachineExit> {
    const { child, group, socketPath } = this.#parts;
    await new Promise<void>((resolve) => {
      child.once("close", () => resolve());
      child.once("error", (error) => {
        this.#errorOutput += error.message;
        resolve();
      });
    });
    // We destroyed the machine: skip the out-of-memory diagnosis.
    const kills = this.#isDestroyed ? 0 : await group.outOfMemoryKills();
    // Ignore errors here: `destroy` runs the failed cleanups again and reports their errors.
    await Promise.all([rm(socketPath, { force: true }), this.#clean()]).catch(() => undefined);
    return this.#explain(kills);
  }

  /**
   * The message for a machine that ran out of memory. It says that files count as memory, because users who wrote many
   * files do not expect that.
   */
  #outOfMemory(): string {
    const { group, root, spec } = this.#parts;
    const { memoryMb, diskMb } = spec.limits;
    if (!group.countsFiles)
      return `The sandbox ran out of memory: its processes may use ${memoryMb} MiB. Ask for more in limits.`;
    const disks = diskCount(root !== undefined);
    return `The sandbox ran out of memory: its processes and its files, which are in memory, may use ${mostMemoryMb(spec.limits, disks)} MiB together (${memoryMb} MiB of memory and ${disks * diskMb} MiB of disk). Remove files, or ask for more in limits.`;
  }

  #explain(outOfMemoryKills: number): MachineExit {
    if (this.#isDestroyed) return { reason: "killed", message: "The sandbox was deleted." };
    if (this.#overuse !== undefined)
      return { reason: "took_too_much", message: `The sandbox was ended. ${this.#overuse}` };
    if (outOfMemoryKills > 0) {
      return { reason: "out_of_memory", message: this.#outOfMemory() };
    }
    return {
      reason: "exited",
      message: "The sandbox's processes ended: code in the sandbox killed the process that keeps it alive.",
    };
  }
}

export interface MachineParts {
  readonly spec: MachineSpec;
  readonly child: ChildProcess;
  /** The pipe on which bubblewrap reports the id of process 1. */
  readonly information: Readable;
  /** Maps the machine to its own uids instead of those of the user who runs this process. */
  readonly mapUids: ((init: number) => Promise<void>) | undefined;
  readonly socketPath: string;
  readonly group: MachineGroup;
  readonly kernel: KernelWatch;
  /** The writable root; undefined if the machine's root is read-only. */
  readonly root: WritableRoot | undefined;
  /** Cleanups to run, in any order, when no process of the machine is left. */
  readonly cleanups: readonly (() => Promise<void>)[];
}
