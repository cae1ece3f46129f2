import type { MachineLimits } from "../sandbox-runtime.js";
import type { Mount } from "./mount.js";

/** What holds whole machines, not single processes, to their limits. */
export interface MachineGroups {
  /** Directory that holds the figures of every group. */
  readonly figures: string;
  /** `disks`: how often the size of its disk a machine may fill. */
  create(name: string, limits: MachineLimits, disks: number): Promise<MachineGroup>;
  /** Removes what this instance keeps. */
  close(): Promise<void>;
}

export interface MachineGroup {
  /** Files into which a process writes 0, for itself, to become a member before it becomes the machine. */
  readonly memberFiles: readonly string[];
  /** The same for a process outside that handles the machine's files: held to what the machine may use, not frozen with it. */
  readonly helperFiles: readonly string[];
  /** Whether its files count as its memory. */
  readonly countsFiles: boolean;
  /** Whether {@link freeze} works here; elsewhere the processes have to be stopped one by one. */
  readonly canFreeze: boolean;
  /** Directory with the memory figures and where the machine sees it, so that it can measure itself. */
  readonly figures: Mount;
  /** Told the machine's process 1 once it runs, by its number on the host. */
  adopt(init: number): void;
  freeze(frozen: boolean): Promise<void>;
  /** How many processes were killed for want of memory. */
  outOfMemoryKills(): Promise<number>;
  remove(): Promise<void>;
}
