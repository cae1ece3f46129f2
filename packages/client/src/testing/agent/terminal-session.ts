import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { errorFrame } from "@cloud-sandbox/server-kit/handlers";
import { type Operation, readClientFrame } from "@cloud-sandbox/server-kit/portable";
import type { ServerSocket } from "../memory/memory-socket.js";
import { TextQueue } from "../memory/text-queue.js";
import type { Machine } from "./machine.js";
import type { RunningProgram } from "./running-program.js";

interface TerminalSettings {
  readonly machine: Machine;
  readonly operation: Operation;
  readonly cols: number;
  readonly rows: number;
}

/**
 * A terminal without a shell: each typed line runs as a command whose behaviour the test defines, one after the other. A
 * line that ends in `exit`, with or without an exit code, is the last.
 */
export function attendTerminal(
  socket: ServerSocket,
  { machine, operation, ...settings }: TerminalSettings,
): void {
  const size = { cols: settings.cols, rows: settings.rows };
  const typed = new TextQueue();
  const end = new AbortController();
  let running: RunningProgram | undefined;

  socket.receive((text) => {
    try {
      const frame = readClientFrame<AgentSchemas["TerminalClientFrame"]>(text, operation);
      if (frame.type === "resize") Object.assign(size, { cols: frame.cols, rows: frame.rows });
      else typed.push(frame.data);
    } catch (error) {
      socket.send(errorFrame(error));
    }
  });
  socket.closed.addEventListener("abort", () => {
    end.abort();
    typed.end();
    running?.kill();
  });

  const show = (data: string): void => socket.send({ type: "output", data: data.replace(/\r?\n/g, "\r\n") });

  /** Runs a line and resolves with its exit code. */
  async function run(line: string): Promise<number> {
    try {
      const request = { text: line, language: undefined, args: undefined, workdir: machine.workdir, env: {} };
      running = machine.start({ ...request, timeout: undefined, terminal: size });
      const tell = async (log: RunningProgram["stdout"]): Promise<void> => {
        for await (const { text } of log.follow()) show(text);
      };
      const [{ exitCode }] = await Promise.all([running.outcome, tell(running.stdout), tell(running.stderr)]);
      return exitCode;
    } catch (error) {
      show(`${error instanceof Error ? error.message : String(error)}\n`);
      return 127;
    }
  }

  async function shell(): Promise<void> {
    let pending = "";
    show("$ ");
    for await (const text of typed) {
      show(text.replaceAll("\r", "\n"));
      const lines = (pending + text).split(/[\r\n]/);
      pending = lines.pop() ?? "";
      for (const line of lines.filter((line) => line.trim() !== "")) {
        const [, command = "", exit] = /^(.*?)\s*(?:(?:^|;)\s*exit\s*(\d*)\s*)?$/.exec(line) ?? [];
        const exitCode = command.trim() === "" ? 0 : await run(command.trim());
        if (exit !== undefined) {
          socket.send({ type: "exit", code: exit === "" ? exitCode : Number(exit) });
          socket.close();
          return;
        }
        show("$ ");
      }
    }
  }
  void shell();
}
