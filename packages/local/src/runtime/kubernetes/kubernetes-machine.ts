import { type AgentAddress, answersHealth } from "../agent-health.js";
import type { Assignment } from "../container/channel/channel-protocol.js";
import type { MachineConnection } from "../container/channel/machine-connection.js";
import {
  type IsolationLevel,
  type Machine,
  type MachineExit,
  type MachineSpec,
  mostMemoryMb,
} from "../sandbox-runtime.js";
import { diskCount } from "./pod.js";
import type { PodEnding } from "./pod-states.js";

export interface KubernetesMachineParts {
  readonly spec: MachineSpec;
  readonly isolation: IsolationLevel;
  readonly connection: MachineConnection;
  readonly socketPath: string;
  /** Whether files of a sandbox that is stopped are kept. */
  readonly keepsFiles: boolean;
  /** How the Pod or its container ended. Undefined if the cluster does not tell. */
  readonly ending: () => Promise<PodEnding | undefined>;
  /** Deletes the Pod. */
  readonly remove: () => Promise<void>;
  /** Removes what this process has for the machine. */
  readonly cleanUp: () => void;
}

/** A Pod with the agent in it. */
export class KubernetesMachine implements Machine {
  readonly id: string;
  readonly isolation: IsolationLevel;
  readonly agentAddress: AgentAddress;
  readonly exited: Promise<MachineExit>;
  /** Kubernetes cannot freeze a Pod. */
  readonly isPaused = false;
  #isDestroyed = false;
  #isLeft = false;
  #removing: Promise<void> | undefined;

  constructor(private readonly parts: KubernetesMachineParts) {
    this.id = parts.spec.id;
    this.isolation = parts.isolation;
    this.agentAddress = { path: parts.socketPath };
    this.exited = this.#end();
  }

  /** Starts the agent of a new Pod. */
  async assign(assignment: Assignment): Promise<void> {
    await this.parts.connection.assign(assignment).catch(async (error: unknown) => {
      const { message } = await this.exited;
      throw new Error(`The machine ended while booting: ${message}`, { cause: error });
    });
  }

  /** Resolves when the agent answers. */
  async booted(signal: AbortSignal): Promise<void> {
    const { connection } = this.parts;
    await Promise.race([
      // If there is no connection, its error says why, and the one of a call does not.
      connection.reached().then(() => answersHealth(this.agentAddress, signal)),
      this.exited.then(({ message }) => {
        throw new Error(`The machine ended while booting: ${message}`);
      }),
    ]);
  }

  get isCutOff(): boolean {
    return this.parts.connection.isCut;
  }

  async pause(): Promise<void> {
    const instead = this.parts.keepsFiles ? ": stop the sandbox instead, which keeps its files" : "";
    throw new Error(`Kubernetes cannot freeze a Pod${instead}`);
  }

  async resume(): Promise<void> {
    // It was never paused.
  }

  /** Cannot be seen from outside of the Pod. If code has stopped the agent, calls to it time out, and it is restarted. */
  async isAgentStopped(): Promise<boolean> {
    return false;
  }

  async restartAgent(): Promise<void> {
    await this.parts.connection.restartAgent();
  }

  async keep(): Promise<void> {
    throw new Error("The files of this machine cannot be kept: its root is read-only.");
  }

  async destroy(): Promise<void> {
    this.#isDestroyed = true;
    try {
      await this.#remove();
    } finally {
      // If the API server does not answer, the Pod ends when it has waited for its server in vain.
      this.parts.connection.close();
    }
    await this.exited;
  }

  async leave(): Promise<void> {
    this.#isLeft = true;
    this.parts.connection.close();
    await this.exited;
  }

  async #end(): Promise<MachineExit> {
    const { connection, ending, cleanUp } = this.parts;
    const reason = await connection.lost;
    const end = this.#isDestroyed || this.#isLeft ? undefined : await ending();
    if (!this.#isLeft) await this.#remove().catch(() => undefined);
    cleanUp();
    return this.#explain(end, reason);
  }

  /** Deletes the Pod, once. If that failed, the next call tries again. */
  #remove(): Promise<void> {
    this.#removing ??= this.parts.remove().catch((error: unknown) => {
      this.#removing = undefined;
      throw error;
    });
    return this.#removing;
  }

  #explain(end: PodEnding | undefined, lost: string): MachineExit {
    if (this.#isDestroyed) return { reason: "killed", message: "The sandbox was deleted." };
    if (this.#isLeft) return { reason: "exited", message: "The sandbox runs on without this server." };
    const { limits } = this.parts.spec;
    if (end?.reason === "OOMKilled")
      return {
        reason: "out_of_memory",
        message: `The sandbox ran out of memory: its processes and its files, which are in memory, may use ${mostMemoryMb(limits, diskCount)} MiB together (${limits.memoryMb} MiB of memory and ${diskCount * limits.diskMb} MiB of disk). Remove files, or ask for more in limits.`,
      };
    if (end?.isOfPod)
      return {
        reason: "exited",
        message: `The cluster ended the sandbox's Pod (${end.reason})${end.message ? `: ${end.message}` : "."}`,
      };
    const why = end
      ? `its container ended (${end.message ?? end.reason ?? `exit code ${end.exitCode}`})`
      : lost;
    return {
      reason: "exited",
      message: `The sandbox's Pod was lost: ${why}. Somebody deleted it, its node ended, or the network was down for too long.`,
    };
  }
}
