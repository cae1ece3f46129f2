/** The output of a background execution from an offset on, and its result when it has ended. */
import type { ExecutionOutput, Sandbox } from "cloud-sandbox";
import * as z from "zod";
import { Answer } from "./answer.js";
import { displayedValues, valuesOf } from "./execution-result.js";
import { jsonBytes, resultBudget } from "./output-limit.js";

export const processOutput = z.looseObject({
  process_id: z.string(),
  sandbox_id: z.string(),
  status: z.string().describe("running, completed, failed or killed"),
  exit_code: z.number().optional(),
  termination_reason: z.string().optional(),
  stdout: z.string(),
  stdout_offset: z.number(),
  stderr: z.string(),
  stderr_offset: z.number(),
  complete: z.boolean().describe("It has ended and all output is read"),
  result: z.string().optional(),
  rich_outputs: displayedValues,
  note: z.string().optional(),
});

export interface ReadPosition {
  /** Offset in bytes. A negative one counts from the end. */
  readonly stdoutOffset?: number;
  readonly stderrOffset?: number;
}

/** Bytes of each stream to request. If their JSON exceeds the size limit, fewer are requested again. */
const usualPiece = 15_000;
const smallestPiece = 16;

type ProcessOutput = z.input<typeof processOutput>;

/** Reads output. The last piece also has the value and the displayed images that `execute_code` returns. */
export async function readOutput(
  sandbox: Sandbox,
  processId: string,
  { stdoutOffset = 0, stderrOffset = 0 }: ReadPosition,
  signal: AbortSignal,
): Promise<Answer<ProcessOutput>> {
  const execution = sandbox.processes.get(processId);
  const position = { stdoutOffset, stderrOffset };
  if (stdoutOffset < 0 || stderrOffset < 0) {
    const { stdoutBytes, stderrBytes } = await execution.output({ limit: smallestPiece, signal });
    if (stdoutOffset < 0) position.stdoutOffset = Math.max(0, stdoutBytes + stdoutOffset);
    if (stderrOffset < 0) position.stderrOffset = Math.max(0, stderrBytes + stderrOffset);
  }
  for (let limit = usualPiece; ; limit = Math.max(smallestPiece, Math.floor(limit / 6))) {
    const piece = await execution.output({ ...position, limit, signal });
    const size = jsonBytes(piece.stdout, resultBudget) + jsonBytes(piece.stderr, resultBudget);
    if (size > resultBudget && limit > smallestPiece) continue;
    const ids = { process_id: processId, sandbox_id: sandbox.id };
    if (!piece.complete) return new Answer({ ...outputFields(position, piece), ...ids });
    const { images, notes, values } = valuesOf(await execution.result({ signal }), { texts: true });
    return new Answer(
      { ...outputFields(position, piece, notes), ...values, ...ids },
      { attachments: images },
    );
  }
}

function outputFields(
  { stdoutOffset, stderrOffset }: Required<ReadPosition>,
  piece: ExecutionOutput,
  notes: readonly string[] = [],
) {
  return {
    status: piece.status,
    exit_code: piece.exitCode,
    termination_reason: piece.terminationReason,
    duration: piece.durationSeconds,
    stdout: piece.stdout,
    stdout_offset: piece.stdoutOffset,
    stdout_bytes: piece.stdoutBytes,
    stderr: piece.stderr,
    stderr_offset: piece.stderrOffset,
    stderr_bytes: piece.stderrBytes,
    complete: piece.complete,
    note: noteOf(piece, { stdoutOffset, stderrOffset }, notes),
  };
}

function noteOf(
  piece: ExecutionOutput,
  { stdoutOffset, stderrOffset }: Required<ReadPosition>,
  more: readonly string[],
): string | undefined {
  const lost = piece.stdoutStart - stdoutOffset + piece.stderrStart - stderrOffset;
  const notes = [
    lost > 0 && `${lost} bytes of earlier output are no longer kept.`,
    piece.error,
    !piece.complete &&
      piece.status !== "running" &&
      "The execution has ended; read the rest of its output from the offsets.",
    ...more,
  ].filter((note) => typeof note === "string");
  return notes.length > 0 ? notes.join(" ") : undefined;
}
