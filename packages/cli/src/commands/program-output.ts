import type {
  CommandStream,
  ExecutionStream,
  IsolatedExecutionStream,
  OutputEvent,
  StreamedExecution,
  StreamedIsolatedExecution,
  StreamedResult,
} from "cloud-sandbox";
import type { Call } from "../command-line/action.js";
import { failed, signalName } from "../errors/command-error.js";
import { lostBytes } from "../errors/explain-error.js";

/** A program whose output can be read. */
export type RunningProgram = CommandStream | ExecutionStream | IsolatedExecutionStream;

type Result = StreamedExecution | StreamedIsolatedExecution | StreamedResult;

/** Prints a program's output unchanged, or with `--json` as a line for each piece. */
export class PrintedOutput {
  #lost = 0;

  constructor(private readonly call: Pick<Call<unknown>, "output" | "signal">) {}

  async add({ raw, skippedBytes, text, type }: Omit<OutputEvent, "timestamp">): Promise<void> {
    const { output, signal } = this.call;
    if (skippedBytes > 0) this.#lost += skippedBytes;
    if (output.isJson) {
      const base64 = raw && { base64: Buffer.from(raw).toString("base64") };
      output.json({ type, text, ...base64, ...(skippedBytes > 0 && { skippedBytes }) });
    } else {
      if (skippedBytes > 0) output.note(`${skippedBytes} bytes of ${type} were left out here.`);
      await output.pass(type, raw ?? text, signal);
    }
  }

  /** The exit code of the command: not 0 if output was lost, which this reports. */
  end(exitCode: number): number {
    if (this.#lost === 0) return exitCode;
    this.call.output.problem(lostBytes(this.#lost));
    return exitCode === 0 ? failed : exitCode;
  }
}

/**
 * Prints a program's output as it comes. Resolves with its result, of which the rest is the caller's to print, and with the
 * command's exit code.
 */
export async function printEvents(
  stream: RunningProgram,
  call: Pick<Call<unknown>, "output" | "signal">,
  timeoutSeconds: number,
): Promise<{ result: Result; exitCode: number }> {
  const { output } = call;
  const printed = new PrintedOutput(call);
  let isOffline = false;
  for await (const event of stream) {
    if (event.type !== "stdout" && event.type !== "stderr") continue;
    isOffline ||= event.text.includes("sandbox has no internet access");
    await printed.add(event);
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
  return { result, exitCode: printed.end(result.exitCode) };
}
