import type { AgentSchemas } from "@cloud-sandbox/protocol";
import {
  ProgramStream,
  type ProgramStreamOptions,
  type StreamedResult,
  streamedResult,
} from "./program-stream.js";
import type { DisplayedValue } from "./results/displayed-value.js";
import { type ExecutionError, richOutput } from "./results/execution-result.js";

/** The result of streamed code without its output, which came in earlier events. */
export interface StreamedExecution extends StreamedResult {
  /** The value of the last expression as text, if the language has one. */
  value: string | undefined;
  /** Values that the code displayed, in order. */
  richOutputs: DisplayedValue[];
  /** Number of displayed values left out because there were too many or they were too large. */
  richOutputsDropped: number;
  /** The exception that ended Python or JavaScript code; undefined if there is none, or if the server does not say. */
  error: ExecutionError | undefined;
  /**
   * Whether the context's variables are lost, because its interpreter ended during this execution or since the previous
   * one.
   */
  contextLost: boolean;
}

/** Running code and its output. See {@link ProgramStream} for how to read it. */
export class ExecutionStream extends ProgramStream<StreamedExecution> {
  /** @internal */
  static of(options: ProgramStreamOptions): ExecutionStream {
    return new ExecutionStream(options);
  }

  /** @internal */
  protected override resultOf(frame: AgentSchemas["ResultFrame"]): StreamedExecution {
    return streamedExecution(frame);
  }
}

/** The result that a frame reports. */
export function streamedExecution(frame: AgentSchemas["ResultFrame"]): StreamedExecution {
  return {
    ...streamedResult(frame),
    value: frame.result,
    // Check the type here: only the required fields of a frame were checked when it arrived.
    richOutputs: Array.isArray(frame.rich_outputs)
      ? frame.rich_outputs.filter((output) => typeof output === "object" && output !== null).map(richOutput)
      : [],
    richOutputsDropped: frame.rich_outputs_dropped ?? 0,
    error: frame.exception,
    contextLost: frame.context_lost ?? false,
  };
}
