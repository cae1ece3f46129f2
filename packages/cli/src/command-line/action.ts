import type { LocalBackendOptions, Sandbox, SandboxClient } from "cloud-sandbox";
import type { Command } from "commander";
import { linesAbout } from "../connection/backend-log.js";
import { failed } from "../errors/command-error.js";
import { explain, type Problem } from "../errors/explain-error.js";
import { Output } from "../output/output.js";
import { Interruption } from "./interruption.js";

/** Options that every command has. */
export interface SharedOptions {
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly url?: string;
}

/** The things that the code of a command works with. */
export interface Call<Options> {
  readonly options: Options & SharedOptions;
  readonly output: Output;
  /** Fires when the command is to end early. */
  readonly signal: AbortSignal;
  /** The client of the chosen server, or of the backend on this machine, with its options. Closed when the command ends. */
  client(local?: LocalBackendOptions): Promise<SandboxClient>;
  /** The client of a server; refuses the backend on this machine, where sandboxes end with the command. */
  server(): Promise<SandboxClient>;
  /** A sandbox of the server, by its id or its name, ready for use. */
  sandbox(idOrName: string): Promise<Sandbox>;
}

/** The code of a command. Resolves with the exit code of a program that it ran; any other value means success. */
export type Work<Options, Args extends unknown[]> = (call: Call<Options>, ...args: Args) => Promise<unknown>;

/** Milliseconds that a command that was told to end waits until its output is read. */
const lastOutputMs = 2000;

/** Makes the action of a command: it calls `work`, reports failures, closes the client and sets the exit code. */
export function action<Options, Args extends unknown[] = []>(
  work: Work<Options, Args>,
): (...all: unknown[]) => Promise<void> {
  return async (...all) => {
    // Commander passes the arguments, the options and the command.
    const command = all.at(-1) as Command;
    const options = command.opts() as Options & SharedOptions;
    const output = new Output(options);
    const interruption = new Interruption();
    let client: SandboxClient | undefined;
    const open = async (local?: LocalBackendOptions): Promise<SandboxClient> => {
      const { openClient } = await import("../connection/open-client.js");
      client ??= openClient(options.url, local);
      return client;
    };
    const server = async (): Promise<SandboxClient> => {
      const { requireServer } = await import("../connection/open-client.js");
      const opened = await open();
      requireServer(opened);
      return opened;
    };
    const { signal } = interruption;
    const sandbox = async (idOrName: string): Promise<Sandbox> => {
      const { withSandboxId } = await import("../connection/sandbox-by-name.js");
      const { sandboxes } = await server();
      return withSandboxId(await server(), idOrName, signal, (id) => sandboxes.connect(id, { signal }));
    };
    const call = { options, output, signal, client: open, server, sandbox };
    try {
      const code = await work(call, ...(all.slice(0, -2) as Args));
      process.exitCode = interruption.exitCode ?? (typeof code === "number" ? code : 0);
    } catch (error) {
      process.exitCode = interruption.exitCode ?? failed;
      if (interruption.isInterrupted) output.note("interrupted.");
      else if (interruption.exitCode === undefined) tell(explain(error), output);
      // A standard input that is not read to its end keeps the process alive.
      process.stdin.destroy();
    } finally {
      await client?.close();
    }
    // Whoever reads the output may have stopped reading.
    if (interruption.isInterrupted)
      setTimeout(() => process.exit(interruption.exitCode), lastOutputMs).unref();
    // All output is written. Exit at once: Node.js would first take its heap apart, object by object.
    process.once("beforeExit", () => process.exit(interruption.exitCode ?? process.exitCode));
  };
}

/** Reports a failure, and what a backend on this machine has logged about the request that failed. */
function tell(problem: Problem, output: Output): void {
  const log = problem.requestId === undefined ? [] : linesAbout(problem.requestId);
  output.problem({ ...problem, ...(log.length > 0 && { log }) });
  for (const line of log) output.note(line);
}
