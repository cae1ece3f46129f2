import type { Outcome, OutputText } from "../handlers/agent/outcome.js";
import type { DisplayedValues } from "./displayed-values.js";
import { type Intervention, termination, withLine } from "./termination.js";

/** The end of a program, and its output. */
export interface EndedProgram {
  readonly id: string;
  readonly pid: number | undefined;
  /** Time at which the program was started, by `performance.now()`. */
  readonly began: number;
  readonly endedAt: number;
  readonly exitCode: number | null;
  readonly killer: NodeJS.Signals | null;
  readonly intervention: Intervention;
  /** Whether the kernel killed processes because memory ran out. Read only for a program that was killed. */
  readonly ranOutOfMemory: () => Promise<boolean>;
  /** The sandbox's memory limit in MB, for messages. */
  readonly memoryMb: number | undefined;
  /** Reads the output. Called after everything else, when nothing is written any more. */
  readonly output: () => Promise<readonly [stdout: OutputText, stderr: OutputText]>;
}

/** Code that an interpreter's driver ran. */
export interface EndedCode extends EndedProgram {
  readonly values: DisplayedValues;
  /** Number of displayed values that the driver left out. */
  readonly dropped: number;
  /** Lines to append to the standard error: what the server has to say about how the code ended. */
  readonly notes: readonly string[];
}

/** The outcome of a program. */
export async function programOutcome(ended: EndedProgram): Promise<Outcome> {
  return assembled(ended, () => []);
}

/** The outcome of code, with the values that it displayed. */
export async function codeOutcome({ values, dropped, notes, ...ended }: EndedCode): Promise<Outcome> {
  const outcome = await assembled(ended, () => {
    const { displaysDropped } = values.fields(dropped);
    return [...(displaysDropped ? [droppedMessage(displaysDropped)] : []), ...notes];
  });
  return { ...outcome, ...values.fields(dropped) };
}

async function assembled(ended: EndedProgram, notes: () => readonly string[]): Promise<Outcome> {
  const { id, pid, began, endedAt, exitCode, killer, intervention, memoryMb } = ended;
  const wasKilled = killer === "SIGKILL" || exitCode === 137;
  const outOfMemory = wasKilled && (await ended.ranOutOfMemory());
  const [stdout, stderr] = await ended.output();
  const end = termination(exitCode, killer, intervention, outOfMemory);
  const lines = [...(end.reason === "out_of_memory" ? [memoryMessage(memoryMb)] : []), ...notes()];
  return {
    id,
    ...end,
    pid,
    duration: Math.round((endedAt - began) * 1000) / 1e6,
    stdout,
    stderr: { ...stderr, text: lines.reduce(withLine, stderr.text) },
  };
}

/** The error for code that wrote to the channel on which its interpreter's driver reports. */
export const strayReportMessage =
  "The code was killed, because it wrote to file descriptor 3, on which its interpreter reports. Use another descriptor.";

const droppedMessage = (count: number) =>
  `${count} displayed ${count === 1 ? "value was" : "values were"} left out: too many, or too large.`;

function memoryMessage(memoryMb: number | undefined): string {
  const limit = memoryMb === undefined ? "" : ` of ${memoryMb} MB`;
  return `Out of memory: the program went over the sandbox's limit${limit} and was killed.`;
}
