import { type CallOptions, checkKnown, longestExecution } from "../config/options.js";
import { invalidArgument, SandboxError, TimeoutError } from "../errors/errors.js";
import type { Commands } from "../execution/commands.js";

/** Options of `waitForPort`. */
export interface WaitForPortOptions extends Pick<CallOptions, "signal"> {
  /** Seconds to wait, a whole number from 1 to 300. Default 60. */
  timeoutSeconds?: number | undefined;
}

/** Waits until a program in the sandbox accepts connections on a port. */
export async function waitForPort(
  commands: Commands,
  port: number,
  options: WaitForPortOptions,
): Promise<void> {
  checkKnown("waitForPort", options, { signal: true, timeoutSeconds: true });
  const { signal, timeoutSeconds = 60 } = options;
  if (!Number.isInteger(timeoutSeconds) || timeoutSeconds < 1 || timeoutSeconds > longestExecution)
    throw invalidArgument(`timeoutSeconds must be a whole number from 1 to ${longestExecution}.`);
  const program = ["bash", "-c", untilOpen, "wait-for-port", String(port)];
  const { exitCode, stderr, terminationReason } = await commands.run(program, {
    timeoutSeconds: timeoutSeconds,
    signal,
  });
  if (exitCode === 0) return;
  if (terminationReason === "timeout" || exitCode === 124) throw notOpen(port, timeoutSeconds);
  throw new SandboxError({
    summary: `Waiting for port ${port} ended with exit code ${exitCode}. ${stderr.slice(0, 500)}`.trim(),
    hint: "Waiting for a port needs a template with bash.",
    code: "PORT_WAIT_FAILED",
  });
}

/** Tries IPv4 and IPv6, because a program may listen on only one of them. */
const untilOpen =
  'until (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null || (exec 3<>"/dev/tcp/::1/$1") 2>/dev/null; do sleep 0.05; done';

function notOpen(port: number, seconds: number): TimeoutError {
  return new TimeoutError({
    summary: `Nothing in the sandbox listened on port ${port} within ${seconds} s.`,
    hint: "Look at the output of the program that should listen, or wait longer with timeoutSeconds.",
    kind: "execution",
    code: "TIMEOUT",
  });
}
