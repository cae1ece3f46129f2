import type { ChildProcessWithoutNullStreams } from "node:child_process";
import type { Socket } from "node:net";
import type { OfferedSystem } from "@cloud-sandbox/protocol";
import type { KeptOutput, OneShotLanguage } from "@cloud-sandbox/server-kit/execution";
import type { Outcome } from "@cloud-sandbox/server-kit/handlers";
import type { AgentAddress } from "./agent-health.js";
import type { HostLanguage } from "./language-tools.js";

/**
 * Isolation levels, from weakest to strongest. A machine records its level; a caller's minimum is met, or the create
 * request is refused.
 */
export const isolationLevels = ["namespace", "container", "gvisor", "microvm"] as const;

/** The mechanism that separates a sandbox from its host. */
export type IsolationLevel = (typeof isolationLevels)[number];

/** Whether `level` is at least as strong as `minimum`. */
export function isAtLeast(level: IsolationLevel, minimum: IsolationLevel): boolean {
  return isolationLevels.indexOf(level) >= isolationLevels.indexOf(minimum);
}

/** The resource limits of one machine. */
export interface MachineLimits {
  /** Memory of the processes, in MiB. Files do not count here, but against {@link diskMb}. */
  readonly memoryMb: number;
  /** MiB of files that the machine may write. If its root is read-only: this many in `/workspace`, and as many again in `/tmp` and home. */
  readonly diskMb: number;
  /** CPUs. Enforced where the host has control groups. */
  readonly vcpu: number;
  /** Processes and threads. */
  readonly maxProcesses: number;
}

/** The MiB of host memory a machine may use: for its processes, and for its files, which are in memory too. `disks`: see {@link RuntimeReport}. */
export function mostMemoryMb({ memoryMb, diskMb }: MachineLimits, disks: number): number {
  return memoryMb + disks * diskMb;
}

/** A container image that machines can be started from. */
export interface MachineImage {
  readonly name: string;
  /** The languages that were found in the image. Undefined until a machine was started from it. */
  readonly contents?: ImageContents | undefined;
}

export interface ImageContents {
  readonly languages: readonly HostLanguage[];
  readonly system?: OfferedSystem | undefined;
}

export interface MachineSpec {
  /** The sandbox's id: fixed before its machine boots, so that a waiting machine needs no second handshake. */
  readonly id: string;
  readonly template: string;
  /** The name of one of {@link SandboxRuntime.images}. Default: the first. */
  readonly image?: string | undefined;
  readonly limits: MachineLimits;
  /** Only for a runtime with {@link SandboxRuntime.refusalOfPriorityClass}. Default: that of the runtime's own settings. */
  readonly priorityClass?: string | undefined;
  /** Ed25519 public key (SPKI, PEM) that the agent verifies tokens with. The machine holds no secret. */
  readonly publicKey: string;
  readonly languages: readonly string[];
  /** Whether the machine offers a desktop. Default: if its files have the programs of one. */
  readonly desktop?: boolean | undefined;
  /**
   * Proves to a machine that others could reach too that a connection is the control plane's. Only for a runtime that adopts.
   * With a data directory it is the same for the same id after a restart. Default: a random one.
   */
  readonly secret?: string;
  /** Names the data directory that a later control plane finds the machine by. Undefined if there is none. */
  readonly owner?: string | undefined;
  /** Called with each outgoing connection of the machine. If undefined, the machine has no network. */
  readonly egress?: ((connection: Socket) => void) | undefined;
  /**
   * Certificate, in PEM, of the authority with which the egress proxy answers in place of hosts that have a secret. Programs trust it
   * beside the host's own. Undefined for a machine that gets no secret.
   */
  readonly authority?: string | undefined;
  /** Environment variables for all programs in the machine. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The directory in which programs start. Only for a machine with {@link layers}. Default: `/workspace`. */
  readonly workdir?: string;
  /** The user of all programs, where code is root inside and may so be any user. Default: root there. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
  /** Host directories written by {@link Machine.keep}, the lowest layer first. The machine starts with their files. */
  readonly layers?: readonly string[];
  /** Whether the lowest layer is all files of an imported image, so that the machine has none of the host's. Default: false. */
  readonly isImage?: boolean | undefined;
  /** A file written by {@link Machine.writeDisk} of a machine with the same layers. The machine starts with its files. */
  readonly disk?: string;
  /** Host files that the machine may read, each with its path inside. */
  readonly files?: readonly MachineFile[];
  /** What to mount in the machine. Only for a runtime without {@link SandboxRuntime.withoutVolumes} or `withoutDirectories`. */
  readonly mounts?: readonly MachineMount[] | undefined;
  /** The host directory that {@link Machine.keep} will create and fill. It must not exist yet. */
  readonly keepIn?: string;
}

/** A directory that is mounted in a machine, without devices and set-uid programs. */
export interface MachineMount {
  readonly source: VolumeDevice | HostDirectory;
  /** The path inside. */
  readonly target: string;
  readonly readOnly: boolean;
  /** Whether the machine writes to a copy of its own. Only with {@link HostDirectory}, and a runtime without `withoutCopies`. */
  readonly isCopy?: boolean;
}

/** A block device with an ext4 file system, on which uid 0 stands for the machine's code. */
export interface VolumeDevice {
  readonly device: string;
}

/** A directory of this machine. Its files belong to the machine's code, if this process may map uids. */
export interface HostDirectory {
  readonly path: string;
  /** Device and inode, as `8:42`. If the path leads to another one when it is mounted, the machine does not start. */
  readonly identity: string;
  readonly owner: { readonly uid: number; readonly gid: number };
}

/** A program that reads a copied directory, and where it finds what code sees, what code has written, and the host's directory. */
export interface OpenedCopy {
  readonly places: { readonly merged: string; readonly upper: string; readonly lower: string };
  readonly program: ChildProcessWithoutNullStreams;
}

export interface MachineFile {
  readonly source: string;
  readonly target: string;
}

/** The part of a program that is known before its code. It has no environment variables of its own. */
export interface ProgramPlan {
  readonly language: OneShotLanguage;
  readonly limits: MachineLimits;
}

/** A program to run isolated like a machine, but without an agent. Nothing of it remains after its end. */
export interface ProgramSpec extends ProgramPlan {
  /** Id of the execution, which the program gets as `CLOUD_SANDBOX_EXECUTION_ID`. */
  readonly id: string;
  readonly code: string;
  /** The name of the program's file in the workspace. Default: one that the language's driver has. */
  readonly filename?: string | undefined;
  /** Environment variables of the program. */
  readonly environment: Readonly<Record<string, string>>;
  /** Called with each outgoing connection of the program. If undefined, the program has no network. */
  readonly egress?: ((connection: Socket) => void) | undefined;
  readonly timeoutSeconds: number;
  /** When it aborts, the program is killed. */
  readonly signal: AbortSignal;
  /** Called when the program runs, or when it was killed and may have run. */
  readonly onStart?: () => void;
  /** Called after `onStart` with the program's outputs, for a reader. The program waits while the reader is far behind. */
  readonly onOutput?: ((stdout: KeptOutput, stderr: KeptOutput) => void) | undefined;
  /** Called if the program is ended for taking what the kernel counts for nobody. */
  readonly onTookTooMuch?: () => void;
  /** Called before {@link SandboxRuntime.run} ends if processes or files of the program remain. `gone` resolves when they are removed. */
  readonly onRemains?: (gone: Promise<void>) => void;
}

/** Why a machine ended. */
export interface MachineExit {
  /** `took_too_much`: it was ended for taking what the kernel counts for nobody. */
  readonly reason: "out_of_memory" | "took_too_much" | "killed" | "exited";
  /** A sentence for people. */
  readonly message: string;
}

/** Where the disk of a machine is written. */
export interface DiskTarget {
  /** A file of the host, open for writing. */
  readonly descriptor: number;
  /** Writing more bytes fails. */
  readonly mostBytes: number;
  readonly signal: AbortSignal;
}

/** An isolated machine with the agent running in it. */
export interface Machine {
  readonly id: string;
  readonly isolation: IsolationLevel;
  /** The address of the machine's agent. It stays the same while the machine runs, even if the agent is restarted. */
  readonly agentAddress: AgentAddress;
  /** Resolves when the machine has ended for any reason; none of its processes runs any more. */
  readonly exited: Promise<MachineExit>;
  /** Whether the connection to the machine is cut, so that its agent may be well. Undefined if there is none to be cut. */
  readonly isCutOff?: boolean;
  /** Whether the machine's processes are frozen, or being frozen. */
  readonly isPaused: boolean;
  /** Freezes every process: the machine keeps its memory and uses no CPU. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Whether code in the machine has stopped the agent (SIGSTOP), so that it cannot answer. */
  isAgentStopped(): Promise<boolean>;
  /** Restarts the agent at the same address. Its running calls are lost, files are kept. Does nothing while the machine is paused. */
  restartAgent(): Promise<void>;
  /**
   * Writes all files the machine has written, as one tar. Pause it first. Rejects if the machine ends meanwhile. Undefined if the machine
   * has no disk: its agent packs the writable directories then.
   */
  readonly writeDisk?: ((target: DiskTarget) => Promise<void>) | undefined;
  /**
   * Starts a program, with its arguments, that reads the copy of a directory which the machine has at `target`. It runs beside the
   * machine, also while that is paused. Only with a runtime without {@link SandboxRuntime.withoutCopies}. Throws a 503 problem if no
   * program can be started now.
   */
  readCopy?(target: string, program: readonly [string, ...string[]]): OpenedCopy;
  /** Ends the machine and saves all files it has written as a layer, in {@link MachineSpec.keepIn}. */
  keep(): Promise<void>;
  /** Kills every process and removes everything the machine left on the host. May be called more than once. */
  destroy(): Promise<void>;
  /** Removes what this process has for the machine, which waits to be adopted. Only with a runtime that adopts. */
  leave?(): Promise<void>;
}

/** Which mechanism of the host enforces a limit. */
export interface Enforcement {
  /** `memory`, `processes`, `cpu`, `disk` or `pause`. */
  readonly limit: string;
  readonly by: "cgroup" | "rlimit" | "watchdog" | "tmpfs" | "signal" | "gvisor" | "none";
}

/** Whether a runtime can be used on this host. */
export type RuntimeReport =
  | {
      readonly runtime: string;
      readonly usable: true;
      readonly isolation: IsolationLevel;
      readonly version: string;
      readonly enforcement: readonly Enforcement[];
      /**
       * How many times its disk size a machine may fill with files: 2 if its root is read-only (two tmpfs of that
       * size), else 1.
       */
      readonly disks: number;
      /** Whether machines run on other hosts, so that this one's memory and processors do not limit them. Default: no. */
      readonly isElsewhere?: boolean;
      /** Weaknesses of the isolation on this host, each with how to fix it. */
      readonly remarks: readonly string[];
    }
  | {
      readonly runtime: string;
      readonly usable: false;
      readonly reason: string;
      /** The command or setting that makes the runtime usable. */
      readonly fix: string;
    };

/** Starts isolated machines. Everything a user does inside one goes through its agent, not through the runtime. */
export interface SandboxRuntime {
  readonly name: string;
  /** Why it starts no machine with {@link MachineSpec.layers}, and what to do instead. Undefined if it does. */
  readonly withoutLayers?: string;
  /** Why its machines cannot be paused. Undefined if they can. */
  readonly withoutPause?: string;
  /** Why it mounts no volumes in machines, and what to do instead. Undefined if it does. Known after {@link probe}. */
  readonly withoutVolumes?: string | undefined;
  /** The same for directories of this machine. */
  readonly withoutDirectories?: string | undefined;
  /** The same for directories that machines write to a copy of. */
  readonly withoutCopies?: string | undefined;
  /** The images that machines are started from. Undefined for a runtime whose machines have the host's programs. */
  readonly images?: readonly MachineImage[];
  probe(): Promise<RuntimeReport>;
  /**
   * Removes files and processes that killed control planes with this runtime left on the host. Also done by the first {@link start},
   * without `owner`. `owner`: the data directory of this control plane, which has adopted the machines that it wants by now.
   */
  removeLeftovers(owner?: string): Promise<void>;
  /** Prepares what all machines share. Otherwise the first {@link start} prepares it. If this fails, that tries again and reports the error. */
  prepare(): Promise<void>;
  /**
   * Why machines cannot have this {@link MachineSpec.priorityClass}. Undefined if they can, or if that cannot be known now. A runtime
   * that lacks this method has no such classes.
   */
  refusalOfPriorityClass?(name: string): Promise<string | undefined>;
  /** Boots a machine and resolves when its agent answers. A machine that fails to boot leaves nothing behind. */
  start(spec: MachineSpec): Promise<Machine>;
  /**
   * Takes over the machine that an earlier process started with the same id and secret, and left running. Undefined if there is
   * none. With a runtime that lacks this method, machines end with their control plane.
   */
  adopt?(spec: MachineSpec): Promise<Machine | undefined>;
  /**
   * Runs one program isolated like a machine, but without an agent. Rejects with `ProgramNotStarted` if the program has not
   * begun and may be run in a machine instead. With a runtime that lacks this method, every program runs in a machine.
   */
  run?(program: ProgramSpec): Promise<Outcome>;
  /**
   * Keeps programs started for {@link run} whose code is not known yet: first like this one, then like those that were run in the
   * last ten minutes. Without this call none are kept.
   */
  expectPrograms?(plan: ProgramPlan): void;
  /** The number of programs that are kept started now. */
  readonly expectedPrograms?: number;
  /** Removes the runtime's own files. Destroy all machines first. */
  close(): Promise<void>;
}
