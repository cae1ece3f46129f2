import { KeptOutput } from "@cloud-sandbox/server-kit/execution";
import type { PrivateDirectory } from "../../machine/private-directory.js";
import { readSystemFile } from "../../machine/system-file.js";
import { OutputFiles } from "../output/output-files.js";
import { OutputPipes } from "../output/output-pipes.js";

interface ResourceLimits {
  readonly directory: PrivateDirectory;
  readonly maxExecutions: number;
  readonly outputLimit: number;
  readonly outputFileLimit: number;
  /** The sandbox's memory limit in MB, for messages. */
  readonly memoryMb: number | undefined;
}

/** Most bytes of each output of a background execution that stay in memory. */
export const backgroundOutputLimit = 64 * 1024;

/**
 * Resources that all executions share: the pool of pipes, the limits and files of outputs, and the count of
 * out-of-memory kills.
 */
export class ExecutionResources {
  readonly pipes: Promise<OutputPipes>;
  readonly outOfMemory = new OutOfMemoryCounter();
  /** Resolves when the kernel's out-of-memory kills so far have been read. Later counts are compared with that. */
  readonly counted: Promise<unknown>;
  readonly #files: OutputFiles;

  constructor(private readonly limits: ResourceLimits) {
    const { directory, maxExecutions, outputFileLimit } = limits;
    this.#files = new OutputFiles(directory, outputFileLimit);
    // Both promises are awaited before the first program and not here, so that the agent answers health checks sooner.
    this.pipes = OutputPipes.create(directory, maxExecutions * 2);
    this.counted = this.outOfMemory.read();
  }

  /**
   * Creates the output for one stream. `background`: the files that receive the whole output of a background
   * execution.
   */
  keptOutput(name: string, background?: OutputFiles): KeptOutput {
    const { outputLimit } = this.limits;
    if (!background) return new KeptOutput(outputLimit, () => this.#files.create(name));
    return new KeptOutput(Math.min(outputLimit, backgroundOutputLimit), () => background.create(name), true);
  }

  /** Whether the kernel has killed any process because memory ran out since the count was `before`. */
  async ranOut(before: number): Promise<boolean> {
    return (await this.outOfMemory.read()) > before;
  }

  get memoryMb(): number | undefined {
    return this.limits.memoryMb;
  }
}

/**
 * Files in which the kernel counts the processes it killed because memory ran out: for the control group, where a
 * sandbox can see it, and for the whole machine. Each has a line `oom_kill <count>`.
 */
const sources = ["/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control", "/proc/vmstat"];

/** Milliseconds after which `recent` starts a new reading. */
const longestStale = 1000;

/** Counts how often the kernel has killed a process because memory ran out. */
class OutOfMemoryCounter {
  #known = 0;
  #readAt = Number.NEGATIVE_INFINITY;

  /**
   * The last count read, without waiting. If it is older than `longestStale`, a new reading starts for the next call.
   * It serves as the count before an execution, which need not be exact.
   */
  get recent(): number {
    if (performance.now() - this.#readAt > longestStale) void this.read();
    return this.#known;
  }

  async read(): Promise<number> {
    this.#readAt = performance.now();
    const texts = await Promise.all(sources.map(readSystemFile));
    this.#known = texts.reduce((sum, text) => sum + Number(/^oom_kill (\d+)$/m.exec(text)?.[1] ?? 0), 0);
    return this.#known;
  }
}
