import type { AgentSchemas, ControlPlaneOperations, ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import type { ControlPlaneContract } from "../../generated/control-plane-contract.js";
import { type Exchange, type NodeExchange, Reply } from "../../http/exchange.js";
import { FrameFeed, jsonLines, serverSentEvents } from "../../http/frame-feed.js";
import { internalProblem, Problem } from "../../http/problem.js";
import type { Handlers } from "../../router/handlers.js";
import { errorFrame } from "../agent/result-frame.js";
import type { RequestedEgress } from "./sandbox-answers.js";
import { requestedEgress, templateReference } from "./sandbox-handlers.js";
import type { RequestedSecrets } from "./secret-answers.js";
import { type OwnLimits, ownLimitsOf } from "./template-facts.js";

/** The template of a program whose request names none. */
const defaultTemplate = "code-interpreter";

/** A checked request to run a program that leaves no sandbox behind. */
export interface ProgramSpec {
  readonly code: string;
  readonly language: string;
  /** The name of the program's file in its working directory. */
  readonly filename: string | undefined;
  readonly timeoutSeconds: number;
  readonly workdir: string | undefined;
  readonly environment: Readonly<Record<string, string>>;
  readonly template: string;
  readonly egress: RequestedEgress;
  readonly limits: OwnLimits | undefined;
  readonly secrets: RequestedSecrets;
  readonly minIsolation: ControlPlaneSchemas["Isolation"] | undefined;
  readonly wantsRich: boolean;
  /** Aborts when the caller no longer waits. */
  readonly signal: AbortSignal;
  /** Called when the program may have begun. */
  readonly onStart: () => void;
  /** Reads the program's output while the program runs. Without a reader, the answer contains the whole output. */
  readonly reader?: ProgramReader | undefined;
}

export interface ProgramHandlerParts<Over extends Exchange = NodeExchange> {
  readonly runProgram: (spec: ProgramSpec) => Promise<ProgramAnswer>;
  readonly repeated: RepeatedPrograms;
  readonly defaultEgress?: RequestedEgress;
  /** Turns pieces of text into the stream type of this server. */
  readonly stream: (pieces: AsyncGenerator<string>) => Over["stream"];
  readonly log?: (message: string) => void;
}

type Body = ControlPlaneOperations["runProgram"]["requestBody"]["content"]["application/json"];

/** The operation that runs a program without a sandbox (POST /v1/executions). */
export function programHandlers<Over extends Exchange = NodeExchange>({
  runProgram,
  repeated,
  defaultEgress = { internetAccess: true },
  stream,
  log = () => undefined,
}: ProgramHandlerParts<Over>) {
  return {
    runProgram: async (call) => {
      const { body, signal, requestId } = call;
      const key = call.header("idempotency-key");
      if (body.stream) {
        const onError = (error: unknown): Problem => {
          log(`runProgram failed (${requestId}): ${error instanceof Error ? error.stack : String(error)}`);
          return internalProblem(requestId);
        };
        return streamedProgram({ accept: call.header("accept"), signal, stream, onError }, (reader) =>
          repeated.runUnstored(key, body, (onStart) =>
            runProgram({ ...programSpec(body, defaultEgress, signal, onStart), reader }),
          ),
        );
      }
      const answer = await repeated.run(key, body, async (onStart) =>
        JSON.stringify(await runProgram(programSpec(body, defaultEgress, signal, onStart))),
      );
      return new Reply(answer, { "content-type": "application/json" }, 200);
    },
  } satisfies Pick<Handlers<ControlPlaneContract, unknown, Over>, "runProgram">;
}

function programSpec(
  body: Body & { readonly language: string; readonly timeout: number; readonly capture_rich: boolean },
  defaultEgress: RequestedEgress,
  signal: AbortSignal,
  onStart: () => void,
): ProgramSpec {
  return {
    code: body.code,
    language: body.language,
    filename: body.filename,
    timeoutSeconds: body.timeout,
    workdir: body.workdir,
    environment: body.env ?? {},
    template:
      body.template_name ??
      (body.template_id === undefined ? defaultTemplate : templateReference(body.template_id)),
    egress: requestedEgress(body, defaultEgress),
    limits: ownLimitsOf(body.limits),
    secrets: body.secrets,
    minIsolation: body.min_isolation,
    wantsRich: body.capture_rich,
    signal,
    onStart,
  };
}

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
async function streamedProgram<Stream>(
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

const keptMs = 60 * 60 * 1000;
const keptKeys = 10_000;
/** Most characters of all answers that are kept, and of a single one. */
const keptCharacters = 16 * 1024 * 1024;
const largestKept = 1024 * 1024;

/**
 * Remembers programs by their `Idempotency-Key` for an hour, so that a request repeated after a broken connection does not
 * run its program a second time.
 */
export class RepeatedPrograms {
  readonly #programs = new Map<string, Remembered>();
  #characters = 0;

  /** `digest` maps a request to a short text that is equal only for equal requests. */
  constructor(private readonly digest: (request: string) => string) {}

  /** Runs a program and returns its answer as JSON. If a program ran under this key before, returns that answer. */
  async run(key: string | undefined, request: unknown, program: RunsOnce): Promise<string> {
    if (key === undefined) return program(() => undefined);
    this.#forgetOld();
    const requestDigest = this.digest(JSON.stringify(request));
    const earlier = this.#programs.get(key);
    if (!earlier) return this.#first(key, requestDigest, program);
    if (earlier.requestDigest !== requestDigest)
      throw new Problem(409, "CONFLICT", "This Idempotency-Key was used with another request.", {
        hint: "Use a new Idempotency-Key for a new program.",
      });
    if (earlier.running !== undefined)
      return earlier.running.catch((error: unknown) => {
        throw earlier.hasStarted ? programNotStored() : error;
      });
    if (earlier.answer === undefined) throw programNotStored();
    return earlier.answer;
  }

  /** Runs a program whose answer is not kept: a request repeated with this key is refused. */
  async runUnstored<Answer>(
    key: string | undefined,
    request: unknown,
    program: (onStart: () => void) => Promise<Answer>,
  ): Promise<Answer> {
    const running: { answer?: Promise<Answer> } = {};
    const text = await this.run(key, request, async (onStart) => {
      running.answer = program(onStart);
      await running.answer;
      return unstored;
    });
    if (running.answer === undefined || text !== unstored) throw programNotStored();
    return running.answer;
  }

  #first(key: string, requestDigest: string, program: RunsOnce): Promise<string> {
    const until = Date.now() + keptMs;
    const remembered: Remembered = { ...none, requestDigest, until };
    const running = program(() => {
      remembered.hasStarted = true;
    });
    remembered.running = running;
    this.#programs.set(key, remembered);
    running.then(
      (answer) => {
        remembered.running = undefined;
        if (answer.length > largestKept || this.#programs.get(key) !== remembered) return;
        remembered.answer = answer;
        this.#characters += answer.length;
      },
      () => {
        remembered.running = undefined;
        // A program that was refused has done nothing, so the key may be used again.
        if (!remembered.hasStarted && this.#programs.get(key) === remembered) this.#programs.delete(key);
      },
    );
    return running;
  }

  #forgetOld(): void {
    for (const [key, { until, answer = "" }] of this.#programs) {
      if (until > Date.now() && this.#programs.size < keptKeys) break;
      this.#programs.delete(key);
      this.#characters -= answer.length;
    }
    for (const remembered of this.#programs.values()) {
      if (this.#characters <= keptCharacters) return;
      this.#characters -= remembered.answer?.length ?? 0;
      remembered.answer = undefined;
    }
  }
}

/** Stands for an answer that is not kept. No answer is empty. */
const unstored = "";

/** Runs a program. Calls `onStart` when the program may have begun, after which it must not be run again. */
type RunsOnce = (onStart: () => void) => Promise<string>;

interface Remembered {
  readonly requestDigest: string;
  hasStarted: boolean;
  /** Rejects or resolves with the answer when the program has ended. Undefined after that. */
  running: Promise<string> | undefined;
  /** The stored answer. Undefined if the program did not end by itself, or if its answer is not stored. */
  answer: string | undefined;
  readonly until: number;
}

const none = { hasStarted: false, running: undefined, answer: undefined };

/** The refusal of a repeated Idempotency-Key whose program has run, but whose answer is not kept. */
export const programNotStored = () =>
  new Problem(
    409,
    "CONFLICT",
    "The program with this Idempotency-Key has run already, and its answer is not stored.",
    {
      hint: "Use a new Idempotency-Key to run the program again.",
    },
  );
