import { type Operation, Problem } from "@cloud-sandbox/server-kit";
import type { WebSocket } from "ws";
import type { EnvironmentVariables } from "../environment/environment-variables.js";
import { ProgramNotFound, requireProgram } from "../execution/programs/start-failure.js";
import type { ServedTree } from "../files/served-tree.js";
import {
  type CommandFrame,
  type ExecuteFrame,
  ExecutionStream,
  type StartStream,
} from "../streaming/execution-stream.js";
import { FrameChannel } from "../streaming/frame-channel.js";
import { type KeptTerminals, keptMs } from "../streaming/kept-terminals.js";
import { ptyInterpreter } from "../streaming/pseudo-terminal.js";
import { TerminalSession } from "../streaming/terminal-session.js";
import { WatchBudget } from "../streaming/watch-budget.js";
import { WatchSession } from "../streaming/watch-session.js";
import type { SocketQuota, WebSocketUpgrader } from "../streaming/websocket-upgrader.js";
import type { AgentHandlers } from "./agent-handlers.js";
import { codeRequest, type ExecutionParts } from "./execution-handlers.js";
import { availableLanguage, commandProgram, processSettings } from "./program-requests.js";

export interface StreamParts extends ExecutionParts {
  readonly upgrader: WebSocketUpgrader;
  /** The environment that every program starts with. */
  readonly base: Readonly<Record<string, string>>;
  readonly variables: EnvironmentVariables;
  readonly tree: ServedTree;
  readonly terminals: KeptTerminals;
}

const streams: SocketQuota = { name: "streams", limit: 64 };
const terminals: SocketQuota = { name: "terminals", limit: 32 };
/** Connections that attach to terminals which are counted already. */
const attachments: SocketQuota = { name: "connections to terminals", limit: 64 };
const watches: SocketQuota = { name: "watches", limit: 32 };

/** Limits for all file watches of the sandbox together. */
const watchedDirectories = 4096;
const watchedEntries = 65_536;

/** Variables that describe the client's terminal, assumed to be a modern one. */
const terminalVariables = { TERM: "xterm-256color", COLORTERM: "truecolor" };

/**
 * Milliseconds before a terminal's first frame: some clients start to listen only a moment after they have connected.
 */
const promptDelay = 50;

/** The WebSocket operations: executions with live output, terminals and file watches. */
export function streamHandlers(parts: StreamParts) {
  const { upgrader, executor, code, programs, workdir } = parts;

  const startCode: StartStream<ExecuteFrame> = async (frame, { signal }) => {
    const language = await availableLanguage(frame.language, parts);
    return code.start({ ...codeRequest(frame, workdir), language, signal });
  };

  const startIpython: StartStream<ExecuteFrame> = async (frame, { signal }) => {
    const language = await availableLanguage("python", parts);
    return code.start({ ...codeRequest(frame, workdir), language, signal, usesIpython: true });
  };

  const startCommand: StartStream<CommandFrame> = async (frame, { signal, stdin }) => {
    const program = async () => ({
      ...(await commandProgram(frame, parts)),
      ...(frame.stdin && { input: stdin }),
    });
    return executor.start(program, { ...processSettings(frame, workdir), signal });
  };

  const attend =
    <First extends object>(operation: Operation, start: StartStream<First>) =>
    (socket: WebSocket) => {
      new ExecutionStream(new FrameChannel(socket), operation, start);
    };

  const budget = new WatchBudget(watchedDirectories, watchedEntries);

  return {
    streamExecution: (call) => upgrader.admit(call, streams, attend(call.operation, startCode)),
    streamCode: (call) => upgrader.admit(call, streams, attend(call.operation, startCode)),
    streamIpython: (call) => upgrader.admit(call, streams, attend(call.operation, startIpython)),
    streamCommand: (call) => upgrader.admit(call, streams, attend(call.operation, startCommand)),

    async openTerminal(call) {
      if (!(await programs.has(ptyInterpreter))) throw noTerminals();
      const { cols, rows, session: name, received } = call.query;
      const attach = (session: TerminalSession, socket: WebSocket) => {
        // A client that names a session listens for frames from the start, so the first one needs no delay.
        const delay = name === undefined ? promptDelay : 0;
        session.attach(new FrameChannel(socket, { delay }), { received, size: { cols, rows } });
      };
      const known = parts.terminals.find(name, received);
      if (known) return upgrader.admit(call, attachments, (socket) => attach(known, socket));
      const shell = call.query.shell ?? ((await programs.has("bash")) ? "bash" : "sh");
      const env: Record<string, string> = {
        ...parts.base,
        ...terminalVariables,
        ...Object.fromEntries(parts.variables.entries()),
      };
      await requireProgram(shell, env.PATH ?? "", workdir).catch((error) => {
        throw error instanceof ProgramNotFound ? noSuchShell(error) : error;
      });
      return upgrader.admit(call, terminals, (socket) => {
        // Another connection of the same client may have opened this terminal meanwhile.
        const opened = parts.terminals.find(name, undefined);
        if (opened) return attach(opened, socket);
        const start = { shell, cols, rows, cwd: workdir, env };
        const reconnectMs = name === undefined ? 0 : keptMs;
        const session = new TerminalSession(start, { operation: call.operation, reconnectMs });
        if (name !== undefined) parts.terminals.add(name, session);
        attach(session, socket);
        return name === undefined ? undefined : session.ended;
      });
    },

    watchFiles: (call) =>
      upgrader.admit(call, watches, (socket) => {
        new WatchSession(new FrameChannel(socket), call.operation, parts.tree, budget);
      }),
  } satisfies AgentHandlers;
}

const noSuchShell = ({ message, command }: ProgramNotFound) =>
  new Problem(400, "INVALID_REQUEST", `${message}.`, {
    hint: "Install the shell, or leave shell out to get the default shell.",
    details: { command },
  });

const noTerminals = () =>
  new Problem(
    400,
    "LANGUAGE_NOT_AVAILABLE",
    `Terminals need ${ptyInterpreter}, which this sandbox's template lacks.`,
    { hint: `Use a template that has ${ptyInterpreter}.` },
  );
