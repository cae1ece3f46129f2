import type { AgentSchemas, ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { Reply } from "../../http/exchange.js";
import { FrameFeed, jsonLines, serverSentEvents } from "../../http/frame-feed.js";
import { Problem } from "../../http/problem.js";
import { errorFrame } from "../agent/result-frame.js";

export type ProgramAnswer = ControlPlaneSchemas["ProgramResult"];

/** Receives the output of a running program. */
export interface ProgramReader {
  /** Called when the program has started. */
  begin(): void;
  /** Called with a piece of output. Resolves when the reader is ready for the next piece. */
  take(frame: AgentSchemas["OutputFrame"]): Promise<void>;
}

type ResultFrame = AgentSchemas["ResultFrame"] & Pick<ProgramAnswer, "id" | "isolation" | "language">;
type Frame =
  | AgentSchemas["OutputFrame"]
  | ResultFrame
  | AgentSchemas["ErrorFrame"]
  | AgentSchemas["CompleteFrame"];

/**
 * Answers with a program's output while `run` runs the program. Rejects if the program was refused, so that the caller gets
 * an HTTP status and no stream.
 */
export async function streamedProgram<Stream>(
  {
    accept,
    signal,
    stream,
    onError,
  }: {
    readonly accept: string | undefined;
    readonly signal: AbortSignal;
    readonly stream: (pieces: AsyncGenerator<string>) => Stream;
    /** Logs an error that is not a `Problem`, and returns the problem to send to the caller. */
    readonly onError: (error: unknown) => Problem;
  },
  run: (reader: ProgramReader) => Promise<ProgramAnswer>,
): Promise<Reply<Stream>> {
  const feed = new FrameFeed<Frame>();
  let begin: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  signal.addEventListener("abort", () => feed.abandon());
  const running = run({ begin, take: (frame) => feed.send(frame) });
  await Promise.race([begun, running]);
  void tellEnd(running, feed, onError);
  const format = accept?.includes("text/event-stream") ? serverSentEvents : jsonLines;
  return new Reply(stream(feed.pieces(format)), { "content-type": format.type, "cache-control": "no-store" });
}

async function tellEnd(
  running: Promise<ProgramAnswer>,
  feed: FrameFeed<Frame>,
  onError: (error: unknown) => Problem,
): Promise<void> {
  let success = false;
  try {
    const answer = await running;
    ({ success } = answer);
    void feed.send(resultFrame(answer));
  } catch (error) {
    void feed.send(errorFrame(error instanceof Problem ? error : onError(error)));
  }
  void feed.send({ type: "complete", success });
  feed.end();
}

/** The frame with the result. It omits the output, which earlier frames carried, and what `rich_outputs` contains. */
function resultFrame(answer: ProgramAnswer): ResultFrame {
  const { success, stdout, stderr, png, html, svg, markdown, latex, json, ...fields } = answer;
  return { type: "result", ...fields };
}
