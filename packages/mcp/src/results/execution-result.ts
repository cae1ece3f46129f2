/** The result of a run: its output, cut to the size limit, and how to get the part that was cut. */
import type { ExecutionResult, ProgramResult } from "cloud-sandbox";
import * as z from "zod";
import { Answer } from "./answer.js";
import { displayed, displayedValues } from "./displayed-values.js";
import { bytesMissing, cutMiddle, resultBudget, shareBudget } from "./output-limit.js";

export const executionOutput = z.looseObject({
  exit_code: z.number().optional().describe("124: timed out; 137: killed or out of memory"),
  success: z.boolean().optional(),
  stdout: z.string(),
  stderr: z.string(),
  result: z.string().optional(),
  rich_outputs: displayedValues,
  termination_reason: z.string().optional(),
  sandbox_id: z.string(),
  status: z.string().optional().describe("running: it goes on in the background"),
  process_id: z.string().optional(),
  note: z.string().optional(),
});

/** The most bytes of the last expression's value. */
const valueBudget = 4000;

export interface ExecutionFacts {
  readonly sandboxId: string;
  /** Whether the sandbox and its files are kept after the run. */
  readonly kept: boolean;
  /** Whether the sandbox still exists only because deleting it failed. */
  readonly leftBehind?: boolean;
  /** Whether displayed text is shown too, not only images. */
  readonly texts?: boolean;
  /** Name of the tool that runs code for longer than this one can. */
  readonly longer?: string;
  /** Further fields of the result. */
  readonly facts?: Readonly<Record<string, unknown>>;
  /** A sentence that comes first in the note. */
  readonly note?: string | undefined;
}

type Values = Partial<Pick<ExecutionResult, "contextLost" | "richOutputs" | "value">>;
type Run = ProgramResult & Values;

/**
 * The value of the last expression and the values that the code displayed. With `texts`, displayed texts are included,
 * not only images.
 */
export function valuesOf({ contextLost, richOutputs = [], value }: Values, { texts }: { texts: boolean }) {
  const { values, images } = displayed(richOutputs, { texts });
  return {
    values: {
      result: value === undefined ? undefined : cutMiddle(value, valueBudget).text,
      rich_outputs: values,
    },
    images,
    notes: contextLost ? ["The interpreter ended: its variables are gone."] : [],
  };
}

export function executionResult(
  run: Run,
  {
    sandboxId,
    kept,
    leftBehind = false,
    longer = "execute_code_background",
    texts = false,
    facts,
    note,
  }: ExecutionFacts,
): Answer<z.input<typeof executionOutput>> {
  const { images, notes: losses, values } = valuesOf(run, { texts });
  const [stdoutBudget, stderrBudget] = shareBudget(run.stdout, run.stderr, resultBudget);
  const { output } = run;
  const stdout = cutMiddle(run.stdout, stdoutBudget, bytesMissing(run.stdout, output.stdout));
  const stderr = cutMiddle(run.stderr, stderrBudget, bytesMissing(run.stderr, output.stderr));
  const notes = [
    note,
    endNote(run.terminationReason, longer),
    stdout.omittedBytes > 0 && cutNote("stdout", output.stdout.file, kept),
    stderr.omittedBytes > 0 && cutNote("stderr", output.stderr.file, kept),
    ...losses,
    leftBehind && "The sandbox could not be deleted: delete it with delete_sandbox.",
  ].filter((note) => typeof note === "string");
  const structure = {
    exit_code: run.exitCode,
    success: run.success,
    stdout: stdout.text,
    stderr: stderr.text,
    ...values,
    execution_time: run.executionTimeSeconds,
    termination_reason: run.terminationReason,
    stdout_bytes: stdout.omittedBytes > 0 ? (output.stdout.bytes ?? stdout.totalBytes) : undefined,
    stderr_bytes: stderr.omittedBytes > 0 ? (output.stderr.bytes ?? stderr.totalBytes) : undefined,
    sandbox_id: sandboxId,
    ...facts,
    note: notes.length > 0 ? notes.join(" ") : undefined,
  };
  return new Answer(structure, { attachments: images });
}

function endNote(reason: ProgramResult["terminationReason"], longer: string): string | undefined {
  if (reason === "timeout")
    return `The program was killed at its timeout: give it more time (at most 300 seconds), or use ${longer}.`;
  if (reason === "out_of_memory")
    return "The program ran out of the sandbox's memory: work on smaller pieces.";
  return undefined;
}

function cutNote(stream: string, file: string | undefined, kept: boolean): string {
  if (!kept) {
    return `${stream} was cut in the middle: print less, or use create_sandbox and execute_code and write it to a file.`;
  }
  if (file === undefined) {
    return `${stream} was cut in the middle: print less, or write it to a file under /workspace and read parts of it.`;
  }
  return `${stream} was cut in the middle; all of it is in ${file}: read parts with run_command, such as sed -n '1,200p'.`;
}
