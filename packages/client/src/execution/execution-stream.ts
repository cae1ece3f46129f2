import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { type RichOutput, richOutput } from "./execution-result.js";
import {
  ProgramStream,
  type ProgramStreamOptions,
  type StreamedResult,
  streamedResult,
} from "./program-stream.js";

/** How streamed code ended; what it wrote was told in the events before. */
export interface StreamedExecution extends StreamedResult {
  /** The value of the last expression as text, where the language has one. */
  value: string | undefined;
  /** What the code displayed, in order. */
  richOutputs: RichOutput[];
  /** Displayed values that were left out because they were too many or too large. */
  richOutputsDropped: number;
  /** The interpreter ended, now or since the execution before: the variables of its context are gone. */
  contextLost: boolean;
}

/** Code that runs, and what it writes meanwhile. See {@link ProgramStream} for how it is read. */
export class ExecutionStream extends ProgramStream<StreamedExecution> {
  /** @internal */
  static of(options: ProgramStreamOptions): ExecutionStream {
    return new ExecutionStream(options);
  }

  /** @internal */
  protected override resultOf(frame: AgentSchemas["ResultFrame"]): StreamedExecution {
    return {
      ...streamedResult(frame),
      value: frame.result,
      // Only the fields that a stream cannot do without are checked before.
      richOutputs: Array.isArray(frame.rich_outputs)
        ? frame.rich_outputs.filter((output) => typeof output === "object" && output !== null).map(richOutput)
        : [],
      richOutputsDropped: frame.rich_outputs_dropped ?? 0,
      contextLost: frame.context_lost ?? false,
    };
  }
}
