import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { errorFrame, notStartedFrames, now, resultFrame } from "@cloud-sandbox/server-kit/handlers";
import { type Operation, Problem, readClientFrame } from "@cloud-sandbox/server-kit/portable";
import type { MemoryRequest } from "../memory/memory-exchange.js";
import type { MemoryFiles } from "../memory/memory-files.js";
import type { ServerSocket } from "../memory/memory-socket.js";
import { isWithin } from "../memory/posix-path.js";
import type { AgentHandlers } from "./agent-handlers.js";
import { startCode, startCommand } from "./execution-handlers.js";
import { servedPath } from "./file-handlers.js";
import { CommandNotFound, type Machine } from "./machine.js";
import type { RunningProgram } from "./running-program.js";
import { attendTerminal } from "./terminal-session.js";

type ExecuteFrame = AgentSchemas["ExecuteStreamRequest"];
type CommandFrame = AgentSchemas["CommandStreamRequest"];
type ControlFrame = Exclude<AgentSchemas["CommandStreamClientFrame"], CommandFrame>;

/** WebSocket handlers that stream a program's output. */
export function streamHandlers(machine: Machine) {
  type StreamCall = { readonly request: MemoryRequest; readonly operation: Operation };

  const stream =
    <First extends object>(start: (first: First, signal: AbortSignal) => Promise<RunningProgram>) =>
    ({ request, operation }: StreamCall) =>
      request.upgrade((socket) => new ProgramSession(socket, operation, start));

  const streamCode = stream((frame: ExecuteFrame, signal) => startCode(machine, frame, signal));
  return {
    streamExecution: streamCode,
    streamCode,
    streamIpython: stream((frame: ExecuteFrame, signal) =>
      startCode(machine, { ...frame, language: "python" }, signal),
    ),
    streamCommand: stream(async (frame: CommandFrame, signal) => {
      const program = startCommand(machine, frame);
      if (frame.stdin === false) program.stdin.end();
      signal.addEventListener("abort", () => program.kill());
      return program;
    }),
    openTerminal: ({ request, operation, query }) =>
      request.upgrade((socket) => attendTerminal(socket, { machine, operation, ...query })),
    watchFiles: ({ request, operation }) =>
      request.upgrade((socket) => attendWatch(socket, operation, machine.files)),
  } satisfies AgentHandlers;
}

/** One program over a WebSocket: the first frame starts it, later frames carry its output. */
class ProgramSession<First extends object> {
  readonly #end = new AbortController();
  #started = false;
  #program: RunningProgram | undefined;
  /** Control frames that arrived before the program had started. */
  readonly #early: ControlFrame[] = [];

  constructor(
    private readonly socket: ServerSocket,
    private readonly operation: Operation,
    private readonly start: (first: First, signal: AbortSignal) => Promise<RunningProgram>,
  ) {
    socket.receive((text) => this.#take(text));
    socket.closed.addEventListener("abort", () => this.#end.abort());
  }

  #take(text: string): void {
    try {
      const frame = readClientFrame<First | ControlFrame>(text, this.operation);
      if (isControl(frame)) this.#control(frame);
      else if (this.#started) throw new Problem(400, "INVALID_REQUEST", onlyOne);
      else void this.#run(frame);
    } catch (error) {
      this.socket.send(errorFrame(error));
      if (!this.#started) this.#complete(false);
    }
  }

  async #run(first: First): Promise<void> {
    this.#started = true;
    const { socket } = this;
    let success = false;
    try {
      const program = await this.start(first, this.#end.signal);
      this.#program = program;
      for (const frame of this.#early.splice(0)) this.#control(frame);
      const [outcome] = await Promise.all([
        program.outcome,
        this.#tell("stdout", program),
        this.#tell("stderr", program),
      ]);
      success = outcome.exitCode === 0;
      socket.send(resultFrame(outcome, "capture_rich" in first && first.capture_rich === true));
    } catch (error) {
      const frames =
        error instanceof CommandNotFound ? notStartedFrames(error.message, 127) : [errorFrame(error)];
      for (const frame of frames) socket.send(frame);
    }
    this.#complete(success);
  }

  async #tell(type: "stdout" | "stderr", program: RunningProgram): Promise<void> {
    for await (const frame of program[type].frames(type)) this.socket.send(frame);
  }

  #complete(success: boolean): void {
    this.socket.send({ type: "complete", success });
    this.socket.close();
  }

  #control(frame: ControlFrame): void {
    if (!this.#started) throw new Problem(400, "INVALID_REQUEST", "The first frame must say what to run.");
    const program = this.#program;
    if (!program) this.#early.push(frame);
    else if (frame.type === "cancel") this.#end.abort();
    else if (frame.type === "signal") program.signal(frame.signal);
    else if (frame.type === "stdin_close") program.stdin.end();
    else program.stdin.push(frame.encoding === "base64" ? decoded(frame.data) : frame.data);
  }
}

const onlyOne =
  "This connection has started its program already, and each connection runs only one. Open another connection.";

const decoded = (base64: string): string =>
  new TextDecoder().decode(Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)));

const isControl = <First extends object>(frame: First | ControlFrame): frame is ControlFrame =>
  "type" in frame && ["cancel", "signal", "stdin", "stdin_close"].includes(String(frame.type));

/** Serves a WebSocket that watches directories, including everything below them. */
function attendWatch(socket: ServerSocket, operation: Operation, files: MemoryFiles): void {
  const watched = new Set<string>();
  const isWatched = (path: string): boolean =>
    [...watched].some((root) => path !== root && isWithin(path, root));

  socket.receive((text) => {
    try {
      const frame = readClientFrame<AgentSchemas["WatchClientFrame"]>(text, operation);
      const path = servedPath(frame.path);
      if (frame.action === "unwatch") {
        watched.delete(path);
        return;
      }
      if (!files.stat(path).isDirectory)
        throw new Problem(400, "INVALID_PATH", `${path} exists and is not a directory.`, {
          details: { path },
        });
      watched.add(path);
      if (frame.ready) socket.send({ type: "ready", path, timestamp: now() });
    } catch (error) {
      socket.send(errorFrame(error));
    }
  });

  const leave = files.listen(({ event, path, oldPath }) => {
    if (!isWatched(path)) return;
    const from = oldPath !== undefined && { old_path: oldPath };
    socket.send({ type: "change", path, event, ...from, timestamp: now() });
  });
  socket.closed.addEventListener("abort", leave);
}
