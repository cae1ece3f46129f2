import { readFileSync } from "node:fs";
import { unlessAborted } from "@cloud-sandbox/server-kit";
import type Docker from "dockerode";
import { type AgentAddress, answersHealth } from "../agent-health.js";
import type { Assignment } from "../container/channel/channel-protocol.js";
import type { MachineConnection } from "../container/channel/machine-connection.js";
import type { KernelWatch } from "../host/kernel-watch.js";
import {
  type IsolationLevel,
  type Machine,
  type MachineExit,
  type MachineSpec,
  mostMemoryMb,
} from "../sandbox-runtime.js";
import { diskCount } from "./container-options.js";
import { removeContainer } from "./engine/container-owner.js";
import { type DockerFailure, isMissing, reasonOf } from "./engine/docker-engine.js";

/** How long a container may take to end, once it cannot be reached any more, before it is removed by force. */
const endLimitMs = 10_000;
const mostFreezes = 10;

export interface DockerMachineParts {
  readonly docker: Docker;
  readonly container: Docker.Container;
  readonly connection: MachineConnection;
  readonly spec: MachineSpec;
  readonly isolation: IsolationLevel;
  readonly socketPath: string;
  readonly freezing: Freezing;
  /** Undefined if the daemon's processes are not on this machine. */
  readonly kernel: KernelWatch | undefined;
  /** The last lines that the supervisor and the agent wrote. */
  readonly errorOutput: () => string;
  /** Removes what this process has for the machine. `isLeft`: whether its container is for the next server. */
  readonly cleanUp: (isLeft: boolean) => void;
}

/** Whether a machine is frozen, which its connection needs to know too. */
export interface Freezing {
  isFrozen: boolean;
}

/** A container with the agent in it. */
export class DockerMachine implements Machine {
  readonly id: string;
  readonly isolation: IsolationLevel;
  readonly agentAddress: AgentAddress;
  readonly exited: Promise<MachineExit>;
  /** The reason why the machine was ended, if its code took too much of something that all machines share. */
  #overuse: string | undefined;
  #isDestroyed = false;
  #isLeft = false;

  constructor(private readonly parts: DockerMachineParts) {
    this.id = parts.spec.id;
    this.isolation = parts.isolation;
    this.agentAddress = { path: parts.socketPath };
    this.exited = this.#end();
    // Without an answer of the daemon, the machine is not watched.
    this.#watchKernel().catch(() => undefined);
  }

  /** Has the machine ended when it takes what the kernel counts for nobody. */
  async #watchKernel(): Promise<void> {
    const { docker, container, kernel } = this.parts;
    if (!kernel) return;
    const { Id, State } = await container.inspect();
    // Believe the daemon only if this is a process of the container here.
    if (!State.Running || !readFileSync(`/proc/${State.Pid}/cgroup`, "utf8").includes(Id)) return;
    const unwatch = kernel.watch({
      init: State.Pid,
      end: (message) => {
        this.#overuse = message;
        removeContainer(docker, Id).catch(() => undefined);
      },
    });
    this.exited.then(unwatch, unwatch);
  }

  /** Resolves when the supervisor of a new container answers. */
  async reached(): Promise<void> {
    await this.parts.connection.reached();
  }

  /** Starts the agent of a new container. */
  assign(assignment: Assignment): Promise<void> {
    return this.parts.connection.assign(assignment);
  }

  /** Resolves when the agent answers; rejects, with nothing left behind, when it does not within `limitMs`. */
  async booted(limitMs: number): Promise<void> {
    const limit = AbortSignal.timeout(limitMs);
    try {
      await Promise.race([
        answersHealth(this.agentAddress, limit),
        this.exited.then(({ message }) => {
          throw new Error(`The machine ended while booting: ${message}`);
        }),
      ]);
    } catch (error) {
      await this.destroy();
      const errorOutput = this.parts.errorOutput();
      if (limit.aborted)
        throw new Error(
          `The machine's agent did not answer within ${limitMs / 1000} s${errorOutput && `: ${errorOutput}`}`,
        );
      throw errorOutput === "" ? error : new Error(`The machine ended while booting: ${errorOutput}`);
    }
  }

  get isCutOff(): boolean {
    return this.parts.connection.isCut;
  }

  get isPaused(): boolean {
    return this.parts.freezing.isFrozen;
  }

  async pause(): Promise<void> {
    const { freezing } = this.parts;
    if (freezing.isFrozen) return;
    // The machine counts as paused from the first moment, so that no call is sent into a machine that freezes.
    freezing.isFrozen = true;
    try {
      // A program that is frozen while `docker exec` starts it blocks every other request about the container.
      await this.parts.connection.settled();
      await this.#untilFrozen(true, this.#freeze());
    } catch (error) {
      freezing.isFrozen = false;
      throw error;
    }
  }

  async resume(): Promise<void> {
    const { container, freezing } = this.parts;
    if (!freezing.isFrozen) return;
    await this.#untilFrozen(false, container.unpause());
    freezing.isFrozen = false;
  }

  /** Never: code has another uid than the agent, and cannot send it a signal. */
  async isAgentStopped(): Promise<boolean> {
    return false;
  }

  async restartAgent(): Promise<void> {
    if (!this.isPaused) await this.parts.connection.restartAgent();
  }

  async keep(): Promise<void> {
    throw new Error("The files of this machine cannot be kept: its root is read-only.");
  }

  async destroy(): Promise<void> {
    this.#isDestroyed = true;
    const { docker, container, connection } = this.parts;
    try {
      await removeContainer(docker, container.id);
    } finally {
      // If the daemon does not answer, the container ends when it has waited for its server in vain.
      connection.close();
    }
    await this.exited;
  }

  async leave(): Promise<void> {
    this.#isLeft = true;
    this.parts.connection.close();
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

  /**
   * Waits for a request to freeze or thaw the container. Docker refuses what somebody else has done already. If the container
   * has ended, `exited` tells that.
   */
  async #untilFrozen(wanted: boolean, request: Promise<unknown>): Promise<void> {
    const { container } = this.parts;
    await request.catch(async (error: unknown) => {
      if (await hasEnded(container).catch(() => false)) return;
      const state = await container.inspect().catch(() => undefined);
      if (state?.State.Paused === wanted) return;
      throw new Error(`Docker refused: ${reasonOf(error)}`, { cause: error });
    });
  }

  async #end(): Promise<MachineExit> {
    const { docker, container, connection, cleanUp } = this.parts;
    await connection.lost;
    let lost: unknown;
    let ranOutOfMemory = false;
    if (!this.#isDestroyed && !this.#isLeft)
      try {
        const abortSignal = AbortSignal.timeout(endLimitMs);
        // A new request tells at once that the daemon is gone. A frozen container, or one that is not reached any more, does not end.
        await docker.ping();
        const ending = container.wait({ condition: "not-running", abortSignal });
        await unlessAborted(ending, abortSignal).catch(() => undefined);
        ranOutOfMemory = (await container.inspect()).State.OOMKilled;
      } catch (error) {
        if (!isMissing(error as DockerFailure)) lost = error;
      }
    // Later attempts are up to the search for orphans.
    if (!this.#isLeft && !this.#isDestroyed)
      await removeContainer(docker, container.id).catch((error: unknown) => {
        lost ??= error;
      });
    cleanUp(this.#isLeft);
    return this.#explain(lost, ranOutOfMemory);
  }

  #explain(lost: unknown, ranOutOfMemory: boolean): MachineExit {
    if (this.#isDestroyed) return { reason: "killed", message: "The sandbox was deleted." };
    if (this.#isLeft) return { reason: "exited", message: "The sandbox runs on without this server." };
    if (this.#overuse !== undefined)
      return { reason: "took_too_much", message: `The sandbox was ended. ${this.#overuse}` };
    const { memoryMb, diskMb } = this.parts.spec.limits;
    if (ranOutOfMemory)
      return {
        reason: "out_of_memory",
        message: `The sandbox ran out of memory: its processes and its files, which are in memory, may use ${mostMemoryMb(this.parts.spec.limits, diskCount)} MiB together (${memoryMb} MiB of memory and ${diskCount * diskMb} MiB of disk). Remove files, or ask for more in limits.`,
      };
    if (lost !== undefined)
      return { reason: "exited", message: `The sandbox was lost with the Docker daemon: ${reasonOf(lost)}.` };
    return {
      reason: "exited",
      message:
        "The sandbox's container ended: somebody removed it, its supervisor was killed, or the Docker daemon was restarted without its option live-restore.",
    };
  }
}

/** Whether a container has ended for good. Rejects if the daemon does not tell. */
export async function hasEnded(container: Docker.Container): Promise<boolean> {
  try {
    return !(await container.inspect()).State.Running;
  } catch (error) {
    if (isMissing(error as DockerFailure)) return true;
    throw error;
  }
}
