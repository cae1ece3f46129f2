/** Builds the result of a background program that has ended, in the form that `execute` returns. */
import type { AgentSchemas } from "@cloud-sandbox/protocol";
import type { AgentAccess } from "../../agent/agent-access.js";
import { callInit } from "../../config/options.js";
import { readBody } from "../../transport/contract-clients.js";
import { type ExecutionResult, type OutputExtent, richOutput } from "./execution-result.js";

type Piece = ReturnType<typeof piece>;

function piece(wire: AgentSchemas["ProcessOutputResponse"]) {
  return { ...wire, outputs: (wire.rich_outputs ?? []).map(richOutput) };
}

/** Bytes of output to read from the beginning, and as many from the end. */
const half = 512 * 1024;

export async function finishedResult(
  access: AgentAccess,
  id: string,
  signal: AbortSignal | undefined,
): Promise<ExecutionResult> {
  const read = (query: { stdout_offset: number; stderr_offset: number; limit: number; values?: boolean }) => {
    const params = { path: { process_id: id }, query };
    const pending = access.client.GET("/execute/processes/{process_id}/output", {
      params,
      ...callInit({ signal }),
    });
    return readBody(pending, piece, "status", "stdout", "stderr");
  };
  const head = await read({ stdout_offset: 0, stderr_offset: 0, limit: half, values: true });
  const tail = head.complete
    ? head
    : await read({
        stdout_offset: Math.max(head.stdout_offset, head.stdout_bytes - half),
        stderr_offset: Math.max(head.stderr_offset, head.stderr_bytes - half),
        limit: half,
      });
  const [stdout, stderr] = [joined("stdout", head, tail), joined("stderr", head, tail)];
  const exitCode = head.exit_code ?? unknownExit;
  return {
    kind: "result",
    success: exitCode === 0,
    stdout: stdout.text,
    stderr: stderr.text,
    exitCode,
    executionTimeSeconds: head.duration ?? 0,
    terminationReason: head.termination_reason,
    output: { stdout: stdout.extent, stderr: stderr.extent },
    language: undefined,
    value: head.result,
    richOutputs: head.outputs,
    richOutputsDropped: head.rich_outputs_dropped ?? 0,
    error: head.exception,
    contextLost: head.context_lost ?? false,
    cached: false,
  };
}

/** Exit code if the agent could not find it out. Not 0, because success is unknown. */
const unknownExit = 1;

function joined(
  stream: "stdout" | "stderr",
  head: Piece,
  tail: Piece,
): { text: string; extent: OutputExtent } {
  const [end, bytes, file] = [head[`${stream}_offset`], head[`${stream}_bytes`], head[`${stream}_file`]];
  const missing = tail === head ? bytes - end : tail[`${stream}_start`] - end;
  const rest = tail === head ? "" : tail[stream];
  if (missing <= 0)
    return { text: head[stream] + rest, extent: { truncated: false, bytes, file: undefined } };
  const text = `${head[stream]}\n[... ${missing} bytes cut ...]\n${rest}`;
  return { text, extent: { truncated: true, bytes, file } };
}
