import type { AgentAccess } from "./agent-access.js";
import { callInit } from "./call-options.js";
import { bodyOf } from "./contract-clients.js";
import { invalidArgument } from "./errors.js";
import { type CommandResult, commandResult } from "./execution-result.js";
import { given } from "./given.js";
import { margin, type RunningOptions, runningTimeout } from "./running-options.js";

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
    const timeout = runningTimeout(options.timeout ?? this.#defaultTimeout);
    const { env, workdir } = options;
    const body = { ...argv(command), timeout, ...given({ env, workdir }) };
    const init = callInit(options, timeout + margin);
    return commandResult(
      await bodyOf(this.#access.client.POST("/commands/run", { body, ...init }), "exit_code"),
    );
  }
}

function argv(command: string | readonly string[]): { command: string; args: string[] } {
  if (typeof command === "string") {
    if (command.trim() !== "") return { command: "bash", args: ["-c", command] };
  } else {
    const [program, ...args] = command;
    if (program !== undefined && program !== "") return { command: program, args };
  }
  throw invalidArgument(
    "The command is empty.",
    'Give a line such as "ls -l", or an array such as ["ls", "-l"].',
  );
}
