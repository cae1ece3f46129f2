import type { AgentAccess } from "../agent/agent-access.js";
import { callInit } from "../config/call-options.js";
import { checkKnown } from "../config/known-options.js";
import { margin, runningTimeout } from "../config/time-limits.js";
import { invalidArgument } from "../errors/errors.js";
import { readBody } from "../transport/contract-clients.js";
import type { BackgroundOptions } from "./background-options.js";
import type { CommandInput, CommandStream } from "./command-stream.js";
import { commandStreamOf } from "./deferred-executions.js";
import type { Execution } from "./execution.js";
import { type CommandResult, commandResult } from "./execution-result.js";
import { envAndWorkdir, type RunningOptions, runningOptionNames } from "./running-options.js";

export interface StreamCommandOptions extends RunningOptions {
  /**
   * What it reads: text, bytes or a stream of them, given to it as it reads; `true` for `write()` and `end()`. Default: nothing,
   * an empty input.
   */
  stdin?: CommandInput | boolean | undefined;
}

/** Programs in a sandbox. */
export class Commands {
  readonly #access: AgentAccess;
  readonly #defaultTimeout: number;

  /** @internal */
  static of(access: AgentAccess, defaultTimeout: number): Commands {
    return new Commands(access, defaultTimeout);
  }

  private constructor(access: AgentAccess, defaultTimeout: number) {
    this.#access = access;
    this.#defaultTimeout = defaultTimeout;
  }

  /**
   * Runs a command and waits for its end (POST /commands/run). Text is a line for bash; an array is a program
   * and its arguments, taken literally. A command that fails is a result, not an error; when `signal` fires,
   * it is killed.
   */
  async run(command: string | readonly string[], options: RunningOptions = {}): Promise<CommandResult> {
    checkKnown("commands.run", options, runningOptionNames);
    const timeout = runningTimeout(options.timeoutSeconds ?? this.#defaultTimeout);
    const body = { ...argv(command), timeout, ...envAndWorkdir(options) };
    const init = callInit(options, timeout + margin);
    return readBody(this.#access.client.POST("/commands/run", { body, ...init }), commandResult, "exit_code");
  }

  /**
   * Runs a command and tells what it writes while it runs (WebSocket /commands/stream): `for await` gives `stdout` and
   * `stderr` as they are written, and at last the `result`; `result()` gives that alone. It starts with the first read;
   * leaving the loop, `close()` and `signal` end it. Its failures are those of `executeStream`.
   */
  stream(command: string | readonly string[], options: StreamCommandOptions = {}): CommandStream {
    checkKnown("commands.stream", options, { ...runningOptionNames, stdin: true });
    const timeout = runningTimeout(options.timeoutSeconds ?? this.#defaultTimeout);
    const { signal, stdin = false } = options;
    checkInput(stdin);
    const program = { ...argv(command), timeout, ...envAndWorkdir(options) };
    const first = { type: "command", ...program, stdin: stdin !== false };
    const path = "/commands/stream";
    return commandStreamOf({ access: this.#access, path, first, timeout, signal, stdin });
  }

  /**
   * Starts a command and does not wait for it (POST /commands/background). It runs for 300 s unless `timeoutSeconds` says more; the
   * sandbox's end is its end. Throws a `ValidationError` for a program that is not there.
   */
  async runBackground(
    command: string | readonly string[],
    options: BackgroundOptions = {},
  ): Promise<Execution> {
    const program = argv(command);
    const { runBackground } = await import("./background-execution.js");
    return runBackground(this.#access, program, options);
  }
}

function checkInput(stdin: unknown): void {
  if (typeof stdin === "boolean" || typeof stdin === "string" || stdin instanceof Uint8Array) return;
  if (typeof stdin === "object" && stdin !== null && Symbol.asyncIterator in stdin) return;
  throw invalidArgument("stdin must be true, text, a Uint8Array or a stream of them.");
}

function argv(command: string | readonly string[]): { command: string; args: string[] } {
  if (typeof command === "string") {
    if (command.trim() !== "") return { command: "bash", args: ["-c", command] };
  } else if (Array.isArray(command) && command.every((word) => typeof word === "string")) {
    const [program, ...args] = command;
    if (program !== undefined && program !== "") return { command: program, args };
  }
  throw invalidArgument(
    "command must be a line or a list of texts, not empty.",
    'Give a line such as "ls -l", or an array such as ["ls", "-l"].',
  );
}
