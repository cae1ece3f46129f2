import type { AgentAccess } from "../agent/agent-access.js";
import {
  type CallOptions,
  checkKnown,
  lifetime,
  margin,
  type OptionNames,
  requestInit,
  runningTimeout,
} from "../config/options.js";
import { invalidArgument } from "../errors/errors.js";
import { readBody } from "../transport/contract-clients.js";
import { runBackground, startCommand } from "./background-execution.js";
import type { BackgroundOptions } from "./background-options.js";
import { type CommandInput, CommandStream } from "./command-stream.js";
import { resultOrDetach } from "./detach.js";
import {
  callbackNames,
  checkWaiting,
  type DetachOptions,
  detachOptionNames,
  envAndWorkdir,
  isStreamed,
  type OutputCallbacks,
  type RunningOptions,
  runningOptionNames,
} from "./execute-options.js";
import type { Execution } from "./execution.js";
import { streamedCommand } from "./live-run.js";
import { type CommandResult, commandResult } from "./results/execution-result.js";

/** Options of `commands.stream`. */
export interface StreamCommandOptions extends RunningOptions {
  /**
   * Time limit of the command in seconds, a whole number from 1 to 86,400; the cloud may refuse more than 300. Default:
   * `timeouts.executionSeconds`, which is 30.
   */
  timeoutSeconds?: number | undefined;
  /** Standard input: text, bytes, or a stream of either; `true` to use `write()` and `end()`. Default: empty input. */
  stdin?: CommandInput | boolean | undefined;
}

/** Options of `commands.run`. */
export interface RunCommandOptions extends RunningOptions, OutputCallbacks, DetachOptions {
  /**
   * Standard input: text, bytes, or a stream of either. Default: empty input. In the cloud at most 1 MiB. Cannot be combined with
   * `detachAfterSeconds`.
   */
  stdin?: CommandInput | undefined;
}

const runOptionNames: OptionNames<RunCommandOptions> = {
  ...runningOptionNames,
  ...callbackNames,
  ...detachOptionNames,
  stdin: true,
};

/** Runs commands in a sandbox. */
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
   * Runs a command and waits for its end (POST /commands/run), at most for `detachAfterSeconds`. A string is a bash command
   * line; an array is a program and its arguments, taken literally. A command that fails is a result, not an error. If
   * `signal` fires, the command is killed.
   *
   * With `stdin`, `onStdout` or `onStderr`, the command runs over a WebSocket: /commands/stream, or on servers that do
   * not state their isolation, such as the cloud, /execute/stream, as bash code that has the input in it. The result then
   * has no `pid`. Closing the client ends such a command, and errors are those of `executeStream`. With
   * `detachAfterSeconds`, the command runs in the background (POST /commands/background), except on such servers: they keep no
   * output of it, so the call waits for the end.
   */
  run(
    command: string | readonly string[],
    options?: RunCommandOptions & { detachAfterSeconds?: undefined },
  ): Promise<CommandResult>;
  run(command: string | readonly string[], options: RunCommandOptions): Promise<CommandResult | Execution>;
  async run(
    command: string | readonly string[],
    options: RunCommandOptions = {},
  ): Promise<CommandResult | Execution> {
    checkKnown("commands.run", options, runOptionNames);
    const access = this.#access;
    const { detachAfterSeconds: seconds, stdin } = options;
    const request = commandRequest(command, options, this.#defaultTimeout);
    checkWaiting(options);
    if (stdin !== undefined) {
      checkInput(stdin, "stdin must be text, a Uint8Array or a stream of them.");
      if (seconds !== undefined)
        throw invalidArgument("detachAfterSeconds and stdin cannot be combined.", "Leave one of them out.");
    }
    if (seconds !== undefined && access.isExtended && request.timeout > seconds) {
      const start = (signal: AbortSignal): Promise<Execution> => startCommand(access, request, { signal });
      const end = await resultOrDetach(access.background, start, seconds, options);
      return end.kind === "execution" ? end : { ...end, pid: undefined };
    }
    if (stdin === undefined && !isStreamed(options)) return runCommand(access, request, options);
    return streamedCommand(access, request, stdin, options);
  }

  /**
   * Runs a command and streams its output (WebSocket /commands/stream): `for await` yields `stdout` and `stderr` as they
   * are written, then the `result`; `result()` gives only the result. The command starts with the first read; leaving the
   * loop, `close()` and `signal` end it. A program that does not exist has the exit code 127, one that cannot be executed 126.
   * Errors are those of `executeStream`.
   */
  stream(command: string | readonly string[], options: StreamCommandOptions = {}): CommandStream {
    checkKnown("commands.stream", options, { ...runningOptionNames, stdin: true });
    const timeout = lifetime(options.timeoutSeconds ?? this.#defaultTimeout, "timeoutSeconds");
    const { signal, stdin = false } = options;
    if (typeof stdin !== "boolean")
      checkInput(stdin, "stdin must be true, text, a Uint8Array or a stream of them.");
    const program = { ...argv(command), timeout, ...envAndWorkdir(options) };
    const first = { type: "command", ...program, stdin: stdin !== false };
    const path = "/commands/stream";
    return CommandStream.of({ access: this.#access, path, first, timeout, signal, stdin });
  }

  /**
   * Starts a command in the background and returns at once (POST /commands/background). Its time limit is 300 s unless
   * `timeoutSeconds` is given. It ends with the sandbox at the latest. Throws a `ValidationError` if the program does not
   * exist.
   */
  async runBackground(
    command: string | readonly string[],
    options: BackgroundOptions = {},
  ): Promise<Execution> {
    const program = argv(command);
    return runBackground(this.#access, program, options);
  }
}

/** The request body for a command. Throws for values that no server accepts. */
function commandRequest(
  command: string | readonly string[],
  options: RunningOptions,
  defaultTimeout: number,
) {
  const timeout = runningTimeout(options.timeoutSeconds ?? defaultTimeout);
  return { ...argv(command), timeout, ...envAndWorkdir(options) };
}

/** Runs a command and waits for its end (POST /commands/run). `body` is a checked request. */
function runCommand(
  { client }: AgentAccess,
  body: ReturnType<typeof commandRequest>,
  options: CallOptions,
): Promise<CommandResult> {
  const init = requestInit(options, body.timeout + margin);
  return readBody(client.POST("/commands/run", { body, ...init }), commandResult, "exit_code");
}

function checkInput(stdin: unknown, otherwise: string): void {
  if (typeof stdin === "string" || stdin instanceof Uint8Array) return;
  if (typeof stdin === "object" && stdin !== null && Symbol.asyncIterator in stdin) return;
  throw invalidArgument(otherwise);
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
