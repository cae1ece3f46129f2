import type { AgentSchemas } from "@cloud-sandbox/protocol";
import type { TerminationReason } from "./execution-result.js";
import { type ExecutionStatus, executionStatus } from "./execution-state.js";

/** Where to go on reading. */
export interface OutputPosition {
  /** Bytes of stdout to skip. Default 0. */
  stdoutOffset?: number | undefined;
  /** Bytes of stderr to skip. Default 0. */
  stderrOffset?: number | undefined;
  /** The most bytes of each stream, 16 to 1,048,576. Default 65,536. */
  limit?: number | undefined;
}

/** How far a program is that is waited for. */
export interface ExecutionProgress {
  /** Seconds so far. */
  durationSeconds: number | undefined;
  /** Bytes written so far. */
  stdoutBytes: number;
  stderrBytes: number;
  /** The beginning of what it has written since it was told last. */
  latest: string;
}

/** A piece of each output, and how the program fares. Offsets count bytes, not characters. */
export interface ExecutionOutput {
  status: ExecutionStatus;
  exitCode: number | undefined;
  terminationReason: TerminationReason | undefined;
  /** Seconds so far, or in all. */
  durationSeconds: number | undefined;
  error: string | undefined;
  stdout: string;
  /** Where `stdout` begins: higher than asked for where the bytes between are no longer kept. */
  stdoutStart: number;
  /** Where to go on. */
  stdoutOffset: number;
  /** Bytes written so far. */
  stdoutBytes: number;
  stderr: string;
  stderrStart: number;
  stderrOffset: number;
  stderrBytes: number;
  /** It has ended, and nothing is left to read. */
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
    stdoutStart: wire.stdout_start,
    stdoutOffset: wire.stdout_offset,
    stdoutBytes: wire.stdout_bytes,
    stderr: wire.stderr,
    stderrStart: wire.stderr_start,
    stderrOffset: wire.stderr_offset,
    stderrBytes: wire.stderr_bytes,
    complete: wire.complete,
  };
}
