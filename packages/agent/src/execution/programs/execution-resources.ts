import type { PrivateDirectory } from "../../machine/private-directory.js";
import { KeptOutput } from "../output/kept-output.js";
import { OutputFiles } from "../output/output-files.js";
import { OutputPipes } from "../output/output-pipes.js";
import { OutOfMemoryCounter } from "./out-of-memory.js";

export interface ResourceLimits {
  readonly directory: PrivateDirectory;
  readonly maxExecutions: number;
  readonly outputLimit: number;
  readonly outputFileLimit: number;
  /** The sandbox's limit, for messages. */
  readonly memoryMb: number | undefined;
}

/** Bytes of each output of a background execution that stay in memory. */
export const backgroundOutputLimit = 64 * 1024;

/** What every execution needs of the agent: pipes to write to, room for what it writes, word of the kernel's kills. */
export class ExecutionResources {
  readonly pipes: Promise<OutputPipes>;
  readonly outOfMemory = new OutOfMemoryCounter();
  /** The kernel's kills so far have been counted. */
  readonly counted: Promise<unknown>;
  readonly #files: OutputFiles;

  constructor(private readonly limits: ResourceLimits) {
    const { directory, maxExecutions, outputFileLimit } = limits;
    this.#files = new OutputFiles(directory, outputFileLimit);
    // Neither is waited for until a program needs it: the agent is asked whether it is there before that.
    this.pipes = OutputPipes.create(directory, maxExecutions * 2);
    this.counted = this.outOfMemory.read();
  }

  /** `background`: the files that all of it goes to when nobody waits for it. */
  keptOutput(name: string, background?: OutputFiles): KeptOutput {
    const { outputLimit } = this.limits;
    if (!background) return new KeptOutput(outputLimit, () => this.#files.create(name));
    return new KeptOutput(Math.min(outputLimit, backgroundOutputLimit), () => background.create(name), true);
  }

  /** Whether the kernel has killed for want of memory since it had done so `before` times. */
  async ranOut(before: number): Promise<boolean> {
    return (await this.outOfMemory.read()) > before;
  }

  get memoryMessage(): string {
    const { memoryMb } = this.limits;
    const limit = memoryMb === undefined ? "" : ` of ${memoryMb} MB`;
    return `Out of memory: the program went over the sandbox's limit${limit} and was killed.`;
  }
}
