import { PassThrough } from "node:stream";
import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { type Operation, Problem, readClientFrame } from "@cloud-sandbox/server-kit";
import { type KeptOutput, outputFrames } from "@cloud-sandbox/server-kit/execution";
import { errorFrame, notStartedFrames, resultFrame } from "@cloud-sandbox/server-kit/handlers";
import type { Execution } from "../execution/programs/executor.js";
import { killGroup } from "../execution/programs/process-sweep.js";
import { ProgramNotFound } from "../execution/programs/start-failure.js";
import { drained } from "./drained.js";
import type { FrameChannel } from "./frame-channel.js";

export type StreamFrame = AgentSchemas["ExecuteStreamFrame"];
export type ExecuteFrame = AgentSchemas["ExecuteStreamRequest"] & Filled<"language" | "timeout">;
export type CommandFrame = AgentSchemas["CommandStreamRequest"] & Filled<"timeout" | "stdin">;
/** Fields for which validation fills in a default, so that they are always present. */
type Filled<Names extends keyof Defaults> = Pick<Defaults, Names>;
type Defaults = { readonly language: string; readonly timeout: number; readonly stdin: boolean };
type ControlFrame = Exclude<AgentSchemas["CommandStreamClientFrame"], AgentSchemas["CommandStreamRequest"]>;

/** Starts the program that a stream's first frame asks for. */
export type StartStream<First> = (
  first: First,
  context: { readonly signal: AbortSignal; readonly stdin: PassThrough },
) => Promise<Execution>;

/** Milliseconds to wait for the first frame. */
const firstFrameMs = 30_000;
/**
 * Milliseconds between the result and the last frame, so that a client that is still processing the result is
 * listening again.
 */
const lastGap = 15;
/** Bytes of standard input that may wait for the program before the agent stops reading from the client. */
const stdinLimit = 1024 * 1024;

/**
 * One execution over a WebSocket. The client's first frame says what to run; the server's frames report output and
 * result.
 */
export class ExecutionStream<First extends object> {
  readonly #end = new AbortController();
  readonly #stdin = new PassThrough({ highWaterMark: stdinLimit });
  readonly #firstFrameTimer: NodeJS.Timeout;
  #started = false;
  #execution: Execution | undefined;

  constructor(
    private readonly channel: FrameChannel<StreamFrame>,
    private readonly operation: Operation,
    private readonly start: StartStream<First>,
  ) {
    this.#stdin.on("error", () => undefined);
    this.#firstFrameTimer = setTimeout(() => this.#fail(tooLate()), firstFrameMs).unref();
    channel.receive((text) => this.#take(text));
    channel.closed.addEventListener("abort", () => {
      clearTimeout(this.#firstFrameTimer);
      this.#end.abort();
      this.#stdin.destroy();
    });
  }

  #take(text: string): void {
    try {
      const frame = readClientFrame<First | ControlFrame>(text, this.operation);
      if (isControl(frame)) this.#control(frame);
      else if (this.#started) throw new Problem(400, "INVALID_REQUEST", onlyOne);
      else this.#begin(frame);
    } catch (error) {
      if (this.#started) void this.channel.send(errorFrame(error));
      else this.#fail(error);
    }
  }

  #begin(first: First): void {
    this.#started = true;
    clearTimeout(this.#firstFrameTimer);
    void this.#run(first);
  }

  /** Sends an error and ends the stream without starting a program. */
  #fail(error: unknown): void {
    this.#started = true;
    clearTimeout(this.#firstFrameTimer);
    void this.channel.send(errorFrame(error));
    void this.#complete(false);
  }

  async #run(first: First): Promise<void> {
    const { channel } = this;
    let success = false;
    try {
      const execution = await this.start(first, { signal: this.#end.signal, stdin: this.#stdin });
      this.#execution = execution;
      const broken = new AbortController();
      execution.outcome.catch(() => broken.abort());
      const watched = AbortSignal.any([channel.closed, broken.signal]);
      const [outcome] = await Promise.all([
        execution.outcome,
        this.#tell("stdout", execution.stdout, watched),
        this.#tell("stderr", execution.stderr, watched),
      ]);
      success = outcome.exitCode === 0;
      void channel.send(resultFrame(outcome, "capture_rich" in first && first.capture_rich === true));
    } catch (error) {
      const frames =
        error instanceof ProgramNotFound
          ? notStartedFrames(error.message, error.exitCode)
          : [errorFrame(error)];
      for (const frame of frames) void channel.send(frame);
    }
    this.#execution = undefined;
    this.#stdin.destroy();
    await this.#complete(success);
  }

  async #complete(success: boolean): Promise<void> {
    await this.channel.pause(lastGap);
    void this.channel.send({ type: "complete", success });
    await this.channel.finish();
  }

  async #tell(type: "stdout" | "stderr", output: KeptOutput, signal: AbortSignal): Promise<void> {
    for await (const frame of outputFrames(type, output, signal)) await this.channel.send(frame);
  }

  #control(frame: ControlFrame): void {
    if (!this.#started) throw new Problem(400, "INVALID_REQUEST", "The first frame must say what to run.");
    switch (frame.type) {
      case "cancel":
        this.#end.abort();
        return;
      case "signal":
        // Send the signal only while the program runs: after its end, its pid may belong to another process.
        if (this.#execution) killGroup(this.#execution.pid, frame.signal);
        return;
      case "stdin_close":
        this.#stdin.end();
        return;
      case "stdin": {
        const bytes = Buffer.from(frame.data, frame.encoding === "base64" ? "base64" : "utf8");
        const { writable } = this.#stdin;
        if (writable && !this.#stdin.write(bytes)) this.channel.pauseFor(drained(this.#stdin));
      }
    }
  }
}

const onlyOne =
  "This connection has started its program already, and each connection runs only one. Open another connection.";

const tooLate = () =>
  new Problem(
    408,
    "INVALID_REQUEST",
    `The first frame, which says what to run, did not come within ${firstFrameMs / 1000} s. Connect again and send it.`,
  );

const isControl = <First extends object>(frame: First | ControlFrame): frame is ControlFrame =>
  "type" in frame && ["cancel", "signal", "stdin", "stdin_close"].includes(String(frame.type));
