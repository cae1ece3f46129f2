import type { MachineLimits } from "../sandbox-runtime.js";
import type { Mount } from "./mount.js";

/** Enforces limits on whole machines instead of single processes: control groups, or the memory watchdog. */
export interface MachineGroups {
  /** The directory with the memory files of all groups. */
  readonly memoryFiles: string;
  /** Creates a group with the machine's limits. `disks`: how many times its disk size a machine may fill. */
  create(name: string, limits: MachineLimits, disks: number): Promise<MachineGroup>;
  /** Removes the groups of this instance. */
  close(): Promise<void>;
}

export interface MachineGroup {
  /** A process joins the group by writing 0 into each of these files, before it becomes the machine. */
  readonly memberFiles: readonly string[];
  /**
   * Like `memberFiles`, for a helper process outside the machine that handles the machine's files: the helper is limited
   * together with the machine, but not frozen with it.
   */
  readonly helperFiles: readonly string[];
  /** Whether the machine's files count towards its memory. */
  readonly countsFiles: boolean;
  /** Whether {@link freeze} works. If not, the processes must be stopped one by one with signals. */
  readonly canFreeze: boolean;
  /** The directory with the machine's memory files, and where it is mounted in the machine, so that the agent can read them. */
  readonly memoryFiles: Mount;
  /** Sets the host's pid of the machine's process 1. Call it once that process runs. */
  adopt(init: number): void;
  /** Freezes all processes, or lets them go on. Resolves when all are frozen; rejects, and lets them go on, if that takes 5 s. */
  freeze(frozen: boolean): Promise<void>;
  /** The number of processes that were killed because memory ran out. */
  outOfMemoryKills(): Promise<number>;
  remove(): Promise<void>;
}
