import type { Operation } from "@cloud-sandbox/protocol/server";
import type { WebSocket } from "ws";
import { ProgramNotFound } from "../execution/start-failure.js";
import {
  type CommandFrame,
  type ExecuteFrame,
  ExecutionStream,
  type StartStream,
} from "../streaming/execution-stream.js";
import { FrameChannel } from "../streaming/frame-channel.js";
import type { SocketQuota, WebSocketGate } from "../streaming/websocket-gate.js";
import type { AgentHandlers } from "./agent-handlers.js";
import { commandNotFound } from "./background-handlers.js";
import { codeRequest, type ExecutionParts } from "./execution-handlers.js";
import { availableLanguage, commandProgram, placeOf } from "./program-requests.js";

export interface StreamParts extends ExecutionParts {
  readonly gate: WebSocketGate;
}

const streams: SocketQuota = { name: "streams", limit: 64 };

/** WebSockets that tell of a program while it runs. */
export function streamHandlers(parts: StreamParts) {
  const { gate, executor, code, programs, workspace } = parts;

  const startCode: StartStream<ExecuteFrame> = async (frame, { signal }) => {
    const language = await availableLanguage(frame.language, parts);
    return code.start({ ...codeRequest(frame, workspace), language, signal });
  };

  const startCommand: StartStream<CommandFrame> = async (frame, { signal, stdin }) => {
    const program = await commandProgram(frame, programs);
    return executor
      .start(() => ({ ...program, ...(frame.stdin && { input: stdin }) }), {
        ...placeOf(frame, workspace),
        signal,
      })
      .catch((error) => {
        throw error instanceof ProgramNotFound ? commandNotFound(error) : error;
      });
  };

  const attend =
    <First extends object>(operation: Operation, start: StartStream<First>) =>
    (socket: WebSocket) => {
      new ExecutionStream(new FrameChannel(socket), operation, start);
    };

  return {
    streamExecution: (call) => gate.admit(call, streams, attend(call.operation, startCode)),
    streamCode: (call) => gate.admit(call, streams, attend(call.operation, startCode)),
    streamIpython: (call) => gate.admit(call, streams, attend(call.operation, startCode)),
    streamCommand: (call) => gate.admit(call, streams, attend(call.operation, startCommand)),
  } satisfies AgentHandlers;
}
