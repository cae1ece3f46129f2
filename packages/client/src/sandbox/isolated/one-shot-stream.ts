import type { AgentSchemas, ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { errorFromFrame } from "../../errors/error-from-response.js";
import {
  InvalidResponseError,
  NetworkError,
  reportIt,
  type SandboxError,
  StreamClosedError,
} from "../../errors/errors.js";
import { secretsOf } from "../../errors/redaction.js";
import type { ExecuteRequest } from "../../execution/execute-options.js";
import { streamedExecution } from "../../execution/execution-stream.js";
import {
  type ErrorEvent,
  type OutputEvent,
  outputEvent,
  withoutResult,
} from "../../execution/program-stream.js";
import { executeFrames, frameLines, type RawFrame } from "../../streams/frames.js";
import { hasFields, type RequiredFields } from "../../transport/answer-fields.js";
import { checkIsolation } from "../sandbox-creation.js";
import type { StreamIsolatedOptions } from "./isolated-options.js";
import type { StreamedIsolatedExecution } from "./isolated-stream.js";

type OutputFrame = AgentSchemas["OutputFrame"];
type ResultFrame = AgentSchemas["ResultFrame"] &
  Pick<ControlPlaneSchemas["ProgramResult"], "id" | "isolation">;

/** Reads the stream of a program that runs without a sandbox. Yields the events before its result, and returns that. */
export async function* oneShotEvents(
  stream: ReadableStream<Uint8Array>,
  request: ExecuteRequest,
  { minIsolation }: StreamIsolatedOptions,
): AsyncGenerator<OutputEvent | ErrorEvent, StreamedIsolatedExecution, void> {
  let result: StreamedIsolatedExecution | undefined;
  let failure: SandboxError | undefined;
  for await (const frame of framesOf(stream)) {
    if (isOf(frame, "stdout") || isOf(frame, "stderr")) yield outputEvent(frame as OutputFrame);
    else if (isOf(frame, "result")) result = oneShotResult(frame as ResultFrame, minIsolation);
    else if (isOf(frame, "error")) {
      failure = errorFromFrame(frame as AgentSchemas["ErrorFrame"], secretsOf(request));
      yield { type: "error", error: failure };
    } else if (isOf(frame, "complete")) {
      if (result !== undefined) return result;
      throw failure ?? new InvalidResponseError(withoutResult);
    }
  }
  throw closedEarly();
}

/** The frames of a stream. Turns a broken connection into a `StreamClosedError`, as streams over WebSockets do. */
async function* framesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<RawFrame, void, void> {
  try {
    yield* frameLines(stream);
  } catch (error) {
    throw error instanceof NetworkError ? closedEarly(error) : error;
  }
}

function oneShotResult(
  frame: ResultFrame,
  minIsolation: StreamIsolatedOptions["minIsolation"],
): StreamedIsolatedExecution {
  const { id: sandboxId, isolation } = frame;
  checkIsolation(minIsolation, isolation);
  return { ...streamedExecution(frame), sandboxId, isolation, cleanupError: undefined };
}

/** Whether a frame is of this type. Throws if it is, and lacks a required field. */
function isOf(frame: RawFrame, type: keyof typeof executeFrames): boolean {
  if (frame.type !== type) return false;
  const fields: RequiredFields =
    type === "result" ? { ...executeFrames.result, id: "string" } : executeFrames[type];
  if (hasFields(frame, fields)) return true;
  throw new InvalidResponseError({
    summary: `The server sent a "${type}" frame without its required fields.`,
    hint: reportIt,
    code: "INVALID_FRAME",
  });
}

function closedEarly(cause?: NetworkError): StreamClosedError {
  return new StreamClosedError({
    summary: "The stream closed before the end of the code was reported.",
    hint: "The code may have ended, too: look at its effects before starting it again.",
    code: "STREAM_CLOSED",
    requestId: cause?.requestId,
    cause,
  });
}
