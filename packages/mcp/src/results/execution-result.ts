/** The result of a run: its output, cut to the size limit, and how to get the part that was cut. */

import { fromBase64, imageType, imageTypes, usableImage } from "@cloud-sandbox/server-kit/image-type";
import { limits } from "@cloud-sandbox/server-kit/limits";
import type { CallToolResult } from "@modelcontextprotocol/server";
import type { ExecutionResult, ProgramResult, RichOutput } from "cloud-sandbox";
import * as z from "zod";
import { Answer } from "./answer.js";
import { bytesMissing, cutMiddle, resultBudget, shareBudget } from "./output-limit.js";

/** The values that code displayed, as part of a tool's result: images as images, all others as text, cut to a limit. */
export const displayedValues = z
  .array(z.looseObject({ type: z.string(), bytes: z.number() }))
  .optional()
  .describe("Images follow as image content");

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

interface ExecutionFacts {
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

type Content = CallToolResult["content"][number];

export interface Displayed {
  readonly values: z.output<typeof displayedValues>;
  readonly images: readonly Content[];
}

/** Models take about 5 MB of base64 for images. All images of a result together stay below that. */
const imageBudget = 4_000_000;
const mostImages = 10;
/** The most displayed values that a sandbox returns. */
const mostValues = limits.displayedValues;
/** The most bytes of one displayed text, and of all of them together. */
const textBudget = 4000;
const textsBudget = 12_000;

/**
 * Converts displayed values for a result. With `texts`, the result contains tables, JSON and other texts; without, it
 * only lists their types.
 */
export function displayed(outputs: readonly RichOutput[], { texts }: { readonly texts: boolean }): Displayed {
  const images: Content[] = [];
  let [imagesLeft, textsLeft] = [imageBudget, texts ? textsBudget : 0];
  const values = outputs.slice(0, mostValues).map(({ type, data }) => {
    const text = typeof data === "string" ? data : (JSON.stringify(data) ?? "");
    if (imageTypes.some((each) => each === type)) {
      const content = fromBase64(text);
      const bytes = content.length;
      const mimeType = imageType(content);
      if (mimeType === undefined) return { type, bytes, note: noImage };
      const base64 = content.toString("base64");
      if (images.length === mostImages) return { type: mimeType, bytes, note: tooMany };
      if (base64.length > imagesLeft) return { type: mimeType, bytes, note: tooLarge };
      imagesLeft -= base64.length;
      images.push({ type: "image", data: base64, mimeType });
      return { type: mimeType, bytes };
    }
    const bytes = Buffer.byteLength(text);
    const shown = cutMiddle(text, Math.min(textBudget, textsLeft));
    if (textsLeft <= 0) return { type, bytes };
    textsLeft -= Buffer.byteLength(shown.text);
    return { type, bytes, data: shown.text };
  });
  // The empty list is told where the caller asked for what the code displays.
  return { values: values.length > 0 || texts ? values : undefined, images };
}

const tooMany = `Only the first ${mostImages} images are shown: display fewer at a time.`;
const noImage = `Not shown: it is not ${usableImage}.`;
const tooLarge = "Too large to show: save a smaller version to a file and read that.";
