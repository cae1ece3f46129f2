import type { Readable } from "node:stream";
import type Docker from "dockerode";
import type { AgentAddress } from "../agent-address.js";
import { answersHealth } from "../agent-health.js";
import type { MachineChannel } from "../container/channel/machine-channel.js";
import {
  type IsolationLevel,
  type Machine,
  type MachineExit,
  type MachineSpec,
  mostMemoryMb,
} from "../sandbox-runtime.js";
import { diskCount } from "./container-options.js";
import { removeContainer } from "./engine/container-owner.js";
import { type DockerFailure, reasonOf } from "./engine/docker-engine.js";

const bootLimitMs = 60_000;
/** How long a container may take to end, once its channel has closed, before it is removed by force. */
const endLimitMs = 10_000;
const mostFreezes = 10;

export interface DockerMachineParts {
  readonly docker: Docker;
  readonly container: Docker.Container;
  readonly channel: MachineChannel;
  readonly spec: MachineSpec;
  readonly isolation: IsolationLevel;
  readonly socketPath: string;
  /** Resolves when the container has ended and is removed; rejects when the daemon does not answer any more. */
  readonly removed: Promise<unknown>;
  /** The last lines that the supervisor and the agent wrote. */
  readonly said: () => string;
  /** Whether the kernel has killed a process of the container because memory ran out. */
  readonly ranOutOfMemory: () => boolean;
  /** Removes what this process has for the machine. */
  readonly cleanUp: () => void;
}

/** A container with the agent in it. */
export class DockerMachine implements Machine {
  readonly id: string;
  readonly isolation: IsolationLevel;
  readonly agentAddress: AgentAddress;
  readonly exited: Promise<MachineExit>;
  /** Files are in tmpfs, which the agent packs; see {@link readDisk}. */
  readonly hasDisk = false;
  #isDestroyed = false;
  #isPaused = false;

  constructor(private readonly parts: DockerMachineParts) {
    this.id = parts.spec.id;
    this.isolation = parts.isolation;
    this.agentAddress = { path: parts.socketPath };
    this.exited = this.#end();
  }

  /** Resolves when the agent answers; rejects, with nothing left behind, when it does not. */
  async booted(): Promise<void> {
    const limit = AbortSignal.timeout(bootLimitMs);
    try {
      await Promise.race([
        answersHealth(this.agentAddress, limit),
        this.exited.then(({ message }) => {
          throw new Error(`The machine ended while booting: ${message}`);
        }),
      ]);
    } catch (error) {
      await this.destroy();
      const said = this.parts.said();
      if (limit.aborted)
        throw new Error(
          `The machine's agent did not answer within ${bootLimitMs / 1000} s${said && `: ${said}`}`,
        );
      throw said === "" ? error : new Error(`The machine ended while booting: ${said}`);
    }
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  async pause(): Promise<void> {
    if (this.#isPaused) return;
    // The machine counts as paused from the first moment, so that no call is sent into a machine that freezes.
    this.#isPaused = true;
    try {
      await this.#unlessEnded(this.#freeze());
    } catch (error) {
      this.#isPaused = false;
      throw error;
    }
  }

  async resume(): Promise<void> {
    if (!this.#isPaused) return;
    await this.#unlessEnded(this.parts.container.unpause());
    this.#isPaused = false;
  }

  /** Never: code has another uid than the agent, and cannot send it a signal. */
  async isAgentStopped(): Promise<boolean> {
    return false;
  }

  async restartAgent(): Promise<void> {
    if (!this.#isPaused) await this.parts.channel.restartAgent();
  }

  readDisk(): Readable {
    throw new Error("This machine has no disk of its own.");
  }

  async keep(): Promise<void> {
    throw new Error("The files of this machine cannot be kept: its root is read-only.");
  }

  async destroy(): Promise<void> {
    this.#isDestroyed = true;
    const { docker, container, channel } = this.parts;
    try {
      await removeContainer(docker, container.id);
    } finally {
      // If the daemon does not answer, the container ends when its input does.
      channel.close();
    }
    await this.exited;
  }

  /** Freezes the container. With control groups of version 1 that fails at times while programs start others. */
  async #freeze(): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.parts.container.pause();
        return;
      } catch (error) {
        if ((error as DockerFailure).statusCode !== 500 || attempt >= mostFreezes) throw error;
      }
    }
  }

  /** Waits for a request about the container. If the container ends meanwhile, `exited` tells that. */
  async #unlessEnded(request: Promise<unknown>): Promise<void> {
    const isOver = Promise.race([this.parts.channel.closed, this.parts.removed]).then(
      () => true,
      () => true,
    );
    await request.catch(async (error: unknown) => {
      if (await Promise.race([isOver, notYet()])) return;
      throw new Error(`Docker refused: ${reasonOf(error)}`, { cause: error });
    });
  }

  async #end(): Promise<MachineExit> {
    const { docker, container, channel, removed, cleanUp } = this.parts;
    let lost: unknown;
    const gone = removed.catch((error: unknown) => {
      lost = error;
    });
    await Promise.race([channel.closed, gone]);
    channel.close();
    // A request that waits does not tell that the daemon is gone; a new one fails at once.
    await docker.ping().catch((error: unknown) => {
      lost ??= error;
    });
    if (lost === undefined) {
      const limit = later(endLimitMs);
      await Promise.race([gone, limit.passed]);
      limit.cancel();
    }
    // The container did not end with its channel, as when it is frozen, or the daemon has stopped answering.
    await removeContainer(docker, container.id).catch((error: unknown) => {
      lost ??= error;
    });
    cleanUp();
    return this.#explain(lost);
  }

  #explain(lost: unknown): MachineExit {
    if (this.#isDestroyed) return { reason: "killed", message: "The sandbox was deleted." };
    const { ranOutOfMemory, spec } = this.parts;
    const { memoryMb, diskMb } = spec.limits;
    if (ranOutOfMemory())
      return {
        reason: "out_of_memory",
        message: `The sandbox ran out of memory: its processes and its files, which are in memory, may use ${mostMemoryMb(spec.limits, diskCount)} MiB together (${memoryMb} MiB of memory and ${diskCount * diskMb} MiB of disk). Remove files, or ask for more in limits.`,
      };
    if (lost !== undefined)
      return { reason: "exited", message: `The sandbox was lost with the Docker daemon: ${reasonOf(lost)}.` };
    return {
      reason: "exited",
      message: "The sandbox's container ended: somebody removed it, or its supervisor was killed.",
    };
  }
}

/** Resolves with false in the next turn of the event loop. */
const notYet = (): Promise<boolean> => new Promise((resolve) => setImmediate(() => resolve(false)));

function later(ms: number): { readonly passed: Promise<void>; cancel(): void } {
  let timer: NodeJS.Timeout | undefined;
  const passed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  return { passed, cancel: () => clearTimeout(timer) };
}
