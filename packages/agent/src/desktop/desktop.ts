import { Problem } from "@cloud-sandbox/server-kit";
import { markedProcesses, sweepMarkedProcesses } from "../execution/programs/process-sweep.js";
import { exhausted } from "../execution/programs/start-failure.js";
import type { InstalledPrograms } from "../machine/installed-programs.js";
import type { PrivateDirectory } from "../machine/private-directory.js";
import { commandLine, readProcess } from "../machine/process-table.js";
import { DesktopLog } from "./desktop-log.js";
import { type DesktopProgram, desktopPrograms, requirePrograms } from "./desktop-programs.js";
import { runTool, type ToolCall, type ToolOutput } from "./desktop-tool.js";
import { DisplayServer } from "./display-server.js";

export interface DesktopOptions {
  readonly programs: InstalledPrograms;
  readonly directory: PrivateDirectory;
  /** The environment that every program of the sandbox starts with. The desktop sets its `DISPLAY`. */
  readonly environment: Record<string, string>;
  /** Marks the processes of the desktop. */
  readonly id: string;
}

/** Most tools that may run at a time. */
const mostTools = 16;
const mostProcesses = 200;
const longestCommand = 1000;

/** The X server of a sandbox and the tools that use it. Started by the first operation that needs it, and again after it ended. */
export class Desktop {
  readonly log = new DesktopLog();
  #server: Promise<DisplayServer> | undefined;
  #tools = 0;

  constructor(readonly options: DesktopOptions) {}

  /** The running X server, started if there is none. */
  async server(): Promise<DisplayServer> {
    const known = this.#server;
    const current = await known?.catch(() => undefined);
    if (current?.isRunning) {
      await current.manage();
      return current;
    }
    // Calls that waited together start one server.
    if (this.#server === known) this.#server = this.#start();
    return this.#server as Promise<DisplayServer>;
  }

  /** The X server, if it runs. */
  async running(): Promise<DisplayServer | undefined> {
    const server = await this.#server?.catch(() => undefined);
    return server?.isRunning ? server : undefined;
  }

  /** Runs a tool on the desktop. Throws if it ends with an error that `refusal` does not explain. */
  async tool(
    call: ToolCall & { readonly command: DesktopProgram },
    refusal?: (output: ToolOutput) => Error | undefined,
  ): Promise<ToolOutput> {
    const server = await this.server();
    const output = await this.run(call);
    const refused = refusal?.(output);
    if (refused) throw refused;
    if (output.code !== 0) throw toolFailed(call.command, output, await server.hasEnded());
    return output;
  }

  /** Runs a program with the environment of the desktop, whatever it ends with. */
  async run(call: ToolCall & { readonly command: DesktopProgram }): Promise<ToolOutput> {
    if (!(call.command in desktopPrograms)) await requirePrograms(this.options.programs, [call.command]);
    if (this.#tools >= mostTools)
      throw exhausted(
        `${mostTools} operations of the desktop are running, the most at a time. Wait for one to end.`,
      );
    this.#tools += 1;
    try {
      return await runTool(call, await this.environment(), this.id);
    } finally {
      this.#tools -= 1;
    }
  }

  /** The environment of programs on the desktop. */
  async environment(): Promise<Record<string, string>> {
    const server = await this.running();
    return { ...this.options.environment, ...(server && { DISPLAY: `:${server.display}` }) };
  }

  get id(): string {
    return this.options.id;
  }

  /** The processes that the desktop has started, and those started by them. */
  async processes(): Promise<{ pid: number; ppid: number; name: string; command: string }[]> {
    const entries = await Promise.all(markedProcesses(this.id).slice(0, mostProcesses).map(readProcess));
    return Promise.all(
      entries
        .filter((entry) => entry !== undefined)
        .map(async (entry) => {
          const { pid, ppid, name } = entry;
          return { pid, ppid, name, command: (await commandLine(entry)).slice(0, longestCommand) };
        }),
    );
  }

  /** Ends all processes of the desktop. */
  async close(): Promise<void> {
    const server = await this.#server?.catch(() => undefined);
    await server?.stop();
    await sweepMarkedProcesses(new Set([this.id]));
  }

  async #start(): Promise<DisplayServer> {
    const { programs, directory, environment } = this.options;
    await requirePrograms(programs, Object.keys(desktopPrograms) as DesktopProgram[]);
    // What is left of an X server that has ended, or of the desktop of an agent that was restarted.
    await sweepMarkedProcesses(new Set([this.id]));
    this.log.add("desktop", "Starting the X server.");
    const server = await DisplayServer.start({ environment, directory, log: this.log, id: this.id });
    environment.DISPLAY = `:${server.display}`;
    return server;
  }
}

function toolFailed(command: string, { stderr }: ToolOutput, hasEnded: boolean): Problem {
  if (hasEnded)
    return new Problem(409, "DESKTOP_FAILED", "The X server of this sandbox ended during the call.", {
      hint: "Its windows are gone. The next call starts a new one.",
    });
  // ImageMagick writes each picture to a file first.
  if (/No space left|Disk quota|WriteBlob Failed/i.test(stderr))
    return new Problem(409, "DESKTOP_FAILED", "The disk of the sandbox is full.", {
      hint: "Remove files in /workspace or /tmp, and try again.",
    });
  const complaint = stderr.trim().split("\n").at(-1)?.slice(0, 300) ?? "";
  return new Problem(
    409,
    "DESKTOP_FAILED",
    `The desktop refused the call (${command}): ${complaint || "no reason given"}.`,
    {
      hint: "GET /desktop/debug/logs has what its programs said.",
    },
  );
}
