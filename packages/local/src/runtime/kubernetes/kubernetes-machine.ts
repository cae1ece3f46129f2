import type { Readable } from "node:stream";
import type { V1ContainerStateTerminated } from "@kubernetes/client-node";
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
import { diskCount } from "./pod.js";

export interface KubernetesMachineParts {
  readonly spec: MachineSpec;
  readonly isolation: IsolationLevel;
  readonly channel: MachineChannel;
  readonly socketPath: string;
  /** How the sandbox's container ended. Undefined if the cluster does not tell. */
  readonly ending: () => Promise<V1ContainerStateTerminated | undefined>;
  /** Deletes the Pod. */
  readonly remove: () => Promise<void>;
  /** Removes what this process has for the machine. */
  readonly cleanUp: () => Promise<void>;
}

/** A Pod with the agent in it. */
export class KubernetesMachine implements Machine {
  readonly id: string;
  readonly isolation: IsolationLevel;
  readonly agentAddress: AgentAddress;
  readonly exited: Promise<MachineExit>;
  /** Files are in memory, and the agent packs them. */
  readonly hasDisk = false;
  /** Kubernetes cannot freeze a Pod. */
  readonly isPaused = false;
  #isDestroyed = false;

  constructor(private readonly parts: KubernetesMachineParts) {
    this.id = parts.spec.id;
    this.isolation = parts.isolation;
    this.agentAddress = { path: parts.socketPath };
    this.exited = this.#end();
  }

  /** Resolves when the agent answers; rejects, with nothing left behind, when it does not. */
  async booted(signal: AbortSignal): Promise<void> {
    try {
      await Promise.race([
        answersHealth(this.agentAddress, signal),
        this.exited.then(({ message }) => {
          throw new Error(`The machine ended while booting: ${message}`);
        }),
      ]);
    } catch (error) {
      await this.destroy();
      throw error;
    }
  }

  async pause(): Promise<void> {
    throw new Error("Kubernetes cannot freeze a Pod: stop the sandbox instead, which keeps its files");
  }

  async resume(): Promise<void> {
    // It was never paused.
  }

  /** Never known: if code has stopped the agent, its calls time out, and it is started anew. */
  async isAgentStopped(): Promise<boolean> {
    return false;
  }

  async restartAgent(): Promise<void> {
    await this.parts.channel.restartAgent();
  }

  readDisk(): Readable {
    throw new Error("This machine has no disk of its own.");
  }

  async keep(): Promise<void> {
    throw new Error("The files of this machine cannot be kept: its root is read-only.");
  }

  async destroy(): Promise<void> {
    this.#isDestroyed = true;
    try {
      await this.parts.remove();
    } finally {
      // If the API server does not answer, the Pod ends when its channel does.
      this.parts.channel.close();
    }
    await this.exited;
  }

  async #end(): Promise<MachineExit> {
    const { channel, ending, remove, cleanUp } = this.parts;
    await channel.closed;
    const end = this.#isDestroyed ? undefined : await ending();
    await remove().catch(() => undefined);
    await cleanUp();
    return this.#explain(end);
  }

  #explain(end: V1ContainerStateTerminated | undefined): MachineExit {
    if (this.#isDestroyed) return { reason: "killed", message: "The sandbox was deleted." };
    const { limits } = this.parts.spec;
    if (end?.reason === "OOMKilled")
      return {
        reason: "out_of_memory",
        message: `The sandbox ran out of memory: its processes and its files, which are in memory, may use ${mostMemoryMb(limits, diskCount)} MiB together (${limits.memoryMb} MiB of memory and ${diskCount * limits.diskMb} MiB of disk). Remove files, or ask for more in limits.`,
      };
    const why = end ? `its container ended (${end.reason ?? `exit code ${end.exitCode}`})` : "it is gone";
    return {
      reason: "exited",
      message: `The sandbox's Pod was lost: ${why}. Somebody deleted it, or its node ended.`,
    };
  }
}
