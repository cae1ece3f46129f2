import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import type { AgentAddress } from "./agent-address.js";

/** The isolation ladder, weakest first. A machine records the level it got; a caller's minimum is met or refused. */
export const isolationLevels = ["namespace", "container", "gvisor", "microvm"] as const;

/** What stands between a sandbox and its host, from weakest to strongest. */
export type IsolationLevel = (typeof isolationLevels)[number];

/** Whether `level` is at least as strong as `minimum`. */
export function isAtLeast(level: IsolationLevel, minimum: IsolationLevel): boolean {
  return isolationLevels.indexOf(level) >= isolationLevels.indexOf(minimum);
}

/** What one machine may use. */
export interface MachineLimits {
  /** Memory of processes, in MiB. Files in the machine are counted beside it, against {@link diskMb}. */
  readonly memoryMb: number;
  /** All that it writes, in MiB. Where its root is read-only: `/workspace`, and as much again for `/tmp` and the home. */
  readonly diskMb: number;
  /** CPUs. Enforced where the host has control groups. */
  readonly vcpu: number;
  /** Processes and threads. */
  readonly maxProcesses: number;
}

/** MiB that a machine may use: its memory, and its files, which are in memory too. `disks` is a runtime's report's. */
export function mostMemoryMb({ memoryMb, diskMb }: MachineLimits, disks: number): number {
  return memoryMb + disks * diskMb;
}

export interface MachineSpec {
  /** The sandbox's id: fixed before its machine boots, so that a waiting machine needs no second handshake. */
  readonly id: string;
  readonly template: string;
  readonly limits: MachineLimits;
  /** Ed25519 public key (SPKI, PEM) that the agent verifies tokens with. The machine holds no secret. */
  readonly publicKey: string;
  readonly languages: readonly string[];
  /** Takes each connection that the machine makes to the outside. Without it, the machine has no way out at all. */
  readonly egress?: ((connection: Socket) => void) | undefined;
  /** What its programs find in their environment. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Host directories that {@link Machine.keep} made, lowest first: the machine starts with what they hold. */
  readonly layers?: readonly string[];
  /** A file with what {@link Machine.readDisk} gave, of a machine with the same layers: all that it wrote is there again. */
  readonly disk?: string;
  /** Host files that the machine may read, and where. */
  readonly files?: readonly MachineFile[];
  /** A directory of the host that does not exist yet, for {@link Machine.keep}. */
  readonly keepIn?: string;
}

export interface MachineFile {
  readonly source: string;
  readonly target: string;
}

/** Why a machine stopped without being told to. */
export interface MachineExit {
  readonly reason: "out_of_memory" | "killed" | "exited";
  /** A sentence for people. */
  readonly message: string;
}

/** An isolated machine with the agent running in it. */
export interface Machine {
  readonly id: string;
  readonly isolation: IsolationLevel;
  /** Stays the same while the machine runs, also when its agent starts anew. */
  readonly agentAddress: AgentAddress;
  /** Settles when the machine has ended, whoever ended it; after that nothing of it is left running. */
  readonly exited: Promise<MachineExit>;
  /** Whether its processes are frozen, or about to be. */
  readonly isPaused: boolean;
  /** Freezes every process; memory is kept and no CPU is used. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Whether code in the machine has stopped the agent, so that it cannot answer. */
  isAgentStopped(): Promise<boolean>;
  /** Has the agent start anew, on the same socket; what it was doing is lost, the files are kept. Nothing while paused. */
  restartAgent(): Promise<void>;
  /** Whether its root is writable, and {@link readDisk} can be used. */
  readonly hasDisk: boolean;
  /** Streams all that it has written, as one file. Only while it is paused; the stream fails when it ends meanwhile. */
  readDisk(): Readable;
  /** Ends the machine and keeps all that it has written as the layer {@link MachineSpec.keepIn}. */
  keep(): Promise<void>;
  /** Kills every process and removes every trace. Safe to call more than once; resolves when nothing is left. */
  destroy(): Promise<void>;
}

/** What holds sandboxes to a limit. */
export interface Enforcement {
  /** What is held to: `memory`, `processes`, `cpu`, `disk`, `pause`. */
  readonly limit: string;
  readonly by: "cgroup" | "rlimit" | "watchdog" | "tmpfs" | "signal" | "none";
}

/** Whether a runtime can be used on this host. */
export type RuntimeReport =
  | {
      readonly runtime: string;
      readonly usable: true;
      readonly isolation: IsolationLevel;
      readonly version: string;
      readonly enforcement: readonly Enforcement[];
      /** How often the size of its disk a machine may fill: twice where its root is read-only. */
      readonly disks: number;
      /** What is weaker here than it could be, each with the step that mends it. */
      readonly remarks: readonly string[];
    }
  | {
      readonly runtime: string;
      readonly usable: false;
      readonly reason: string;
      /** The one command or setting that mends it. */
      readonly fix: string;
    };

/** Knows how to start, freeze and destroy an isolated machine, and nothing else. */
export interface SandboxRuntime {
  readonly name: string;
  probe(): Promise<RuntimeReport>;
  /** Removes what processes that used the runtime left when they were killed. Done before the first machine anyway. */
  removeLeftovers(): Promise<void>;
  /** Boots a machine and resolves when its agent answers. A machine that fails to boot leaves nothing behind. */
  start(spec: MachineSpec): Promise<Machine>;
  /** Removes what the runtime keeps for itself. All machines must be destroyed before. */
  close(): Promise<void>;
}
