import type {
  CommandStream,
  ExecutionStream,
  IsolatedExecutionStream,
  StreamedExecution,
  StreamedIsolatedExecution,
  StreamedResult,
} from "cloud-sandbox";
import { signalName } from "../errors/exit-codes.js";
import type { Output } from "../output/output.js";

/** A program whose output can be read. */
export type RunningProgram = CommandStream | ExecutionStream | IsolatedExecutionStream;

type Result = StreamedExecution | StreamedIsolatedExecution | StreamedResult;

/**
 * Prints a program's output as it comes: with `--json` a line for each piece. Resolves with its result, of which the rest is
 * the caller's to print.
 */
export async function printEvents(
  stream: RunningProgram,
  output: Output,
  timeoutSeconds: number,
): Promise<Result> {
  let isOffline = false;
  for await (const event of stream) {
    if (event.type === "stdout" || event.type === "stderr") {
      const { skippedBytes, text, type } = event;
      isOffline ||= text.includes("sandbox has no internet access");
      if (output.isJson) output.json({ type, text, ...(skippedBytes > 0 && { skippedBytes }) });
      else {
        if (skippedBytes > 0) output.note(`${skippedBytes} bytes of ${type} were left out here.`);
        if (type === "stdout") output.write(text);
        else output.writeError(text);
      }
    }
  }
  const result: Result = await stream.result();
  if (isOffline && result.exitCode !== 0)
    output.note("the sandbox has no internet access; --internet on gives it.");
  if (result.terminationReason === "timeout")
    output.note(`the program was stopped after ${timeoutSeconds} s; --timeout gives it more time.`);
  if (result.terminationReason === "out_of_memory")
    output.note("the program was stopped because the sandbox's memory was used up.");
  if (result.terminationReason === "signal")
    output.note(`the program was ended by ${signalName(result.exitCode) ?? "a signal"}.`);
  const { cleanupError, sandboxId } = result as Partial<StreamedIsolatedExecution>;
  if (cleanupError !== undefined)
    output.note(`the sandbox ${sandboxId} could not be deleted: ${cleanupError.message}`);
  return result;
}
