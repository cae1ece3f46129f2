import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { FrameFeed, jsonLines, Problem, readJsonBody } from "@cloud-sandbox/server-kit";
import { outputFrames } from "@cloud-sandbox/server-kit/execution";
import { type CodeRequestBody, errorFrame, resultFrame } from "@cloud-sandbox/server-kit/handlers";
import type { CodeRunner } from "../execution/code-runner.js";
import type { Execution } from "../execution/programs/executor.js";
import { codeRequest } from "./execution-handlers.js";
import { availableLanguage, type LanguageSupport } from "./program-requests.js";

export interface ProgramStreamParts extends LanguageSupport {
  readonly code: CodeRunner;
  readonly workdir: string;
  /** Most bytes of a request. */
  readonly bodyLimit: number;
}

type Frame = AgentSchemas["OutputFrame"] | AgentSchemas["ResultFrame"] | AgentSchemas["ErrorFrame"];

/**
 * Runs a program for the control plane, which has checked the request. The program has no context. Everything that it
 * displays is in the last frame.
 */
export function programStream({ code, bodyLimit, workdir, ...support }: ProgramStreamParts) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    const body = (await readJsonBody(request, bodyLimit)) as CodeRequestBody | undefined;
    if (!body) throw new Problem(400, "INVALID_REQUEST", "The request has no program. Send one as the body.");
    const language = await availableLanguage(body.language, support);
    const { signal } = gone;
    const program = { ...codeRequest(body, workdir), language, signal, isProgram: true };
    const execution = await code.start(program);
    const feed = new FrameFeed<Frame>();
    signal.addEventListener("abort", () => feed.abandon());
    void tell(execution, feed, signal);
    response.writeHead(200, { "content-type": jsonLines.type });
    await pipeline(Readable.from(feed.pieces(jsonLines)), response).catch(() => response.destroy());
  };
}

async function tell(
  { outcome, stdout, stderr }: Execution,
  feed: FrameFeed<Frame>,
  signal: AbortSignal,
): Promise<void> {
  const broken = new AbortController();
  outcome.catch(() => broken.abort());
  const watched = AbortSignal.any([signal, broken.signal]);
  const send = async (frames: AsyncIterable<Frame>): Promise<void> => {
    for await (const frame of frames) await feed.send(frame);
  };
  try {
    const [ended] = await Promise.all([
      outcome,
      send(outputFrames("stdout", stdout, watched)),
      send(outputFrames("stderr", stderr, watched)),
    ]);
    void feed.send(resultFrame(ended, true));
  } catch (error) {
    void feed.send(errorFrame(error));
  }
  feed.end();
}
