import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { base64Bytes } from "../transport/answer-fields.js";
import type { TerminationReason } from "./results/execution-result.js";
import { type ExecutionStatus, executionStatus } from "./results/execution-state.js";

/** Where to continue reading a program's output. */
export interface OutputPosition {
  /** Bytes of stdout to skip. Default 0. */
  stdoutOffset?: number | undefined;
  /** Bytes of stderr to skip. Default 0. */
  stderrOffset?: number | undefined;
  /** The most bytes to return of each stream, 16 to 1,048,576. Default 65,536. */
  limit?: number | undefined;
}

/** Progress of a program in the background. */
export interface ExecutionProgress {
  /** Seconds that the program has run so far. */
  durationSeconds: number | undefined;
  /** Bytes of stdout written so far. */
  stdoutBytes: number;
  stderrBytes: number;
  /** The beginning of the output written since the last call of `onProgress`. */
  latest: string;
}

/** A piece of stdout and stderr, and the program's state. Offsets count bytes, not characters. */
export interface ExecutionOutput {
  status: ExecutionStatus;
  exitCode: number | undefined;
  terminationReason: TerminationReason | undefined;
  /** Seconds that the program has run so far, or ran in all. */
  durationSeconds: number | undefined;
  error: string | undefined;
  stdout: string;
  /** The bytes of `stdout`, if they are not UTF-8: `stdout` then has U+FFFD in place of those that are no text. */
  stdoutRaw: Uint8Array | undefined;
  /** Offset at which `stdout` begins. Higher than the requested one if the bytes between are no longer kept. */
  stdoutStart: number;
  /** The `stdoutOffset` to pass to the next call. */
  stdoutOffset: number;
  /** Bytes of stdout written so far. */
  stdoutBytes: number;
  stderr: string;
  stderrRaw: Uint8Array | undefined;
  stderrStart: number;
  stderrOffset: number;
  stderrBytes: number;
  /** The program has ended, and there is no output left to read. */
  complete: boolean;
}

export function executionOutput(wire: AgentSchemas["ProcessOutputResponse"]): ExecutionOutput {
  return {
    status: executionStatus(wire.status),
    exitCode: wire.exit_code,
    terminationReason: wire.termination_reason,
    durationSeconds: wire.duration,
    error: wire.error,
    stdout: wire.stdout,
    stdoutRaw: base64Bytes(wire.stdout_base64),
    stdoutStart: wire.stdout_start,
    stdoutOffset: wire.stdout_offset,
    stdoutBytes: wire.stdout_bytes,
    stderr: wire.stderr,
    stderrRaw: base64Bytes(wire.stderr_base64),
    stderrStart: wire.stderr_start,
    stderrOffset: wire.stderr_offset,
    stderrBytes: wire.stderr_bytes,
    complete: wire.complete,
  };
}
