/** Handles of programs. Their code is loaded on first use, to keep startup fast. */
import type { AgentAccess } from "../agent/agent-access.js";
import { call, deferred, each, later, type Members } from "../transport/deferred.js";
import type { CommandStream, CommandStreamOptions } from "./command-stream.js";
import type { Execution } from "./execution.js";
import type { ExecutionStream } from "./execution-stream.js";
import type { ProgramStream, ProgramStreamOptions } from "./program-stream.js";

export function executionOf(access: AgentAccess, id: string): Execution {
  const load = async () => (await import("./execution.js")).Execution.of(access, id);
  const members = {
    status: call,
    wait: call,
    waitAtMost: call,
    result: call,
    output: call,
    follow: each,
    kill: call,
  } as const;
  return deferred<Execution, "id" | "kind">(load, members, { id, kind: "execution" });
}

const programStream = {
  [Symbol.asyncIterator]: each,
  close: later,
  [Symbol.asyncDispose]: call,
  result: call,
  kill: call,
} satisfies Members<ProgramStream<unknown>>;

export function executionStreamOf(options: ProgramStreamOptions): ExecutionStream {
  const load = async () => (await import("./execution-stream.js")).ExecutionStream.of(options);
  return deferred(load, programStream);
}

export function commandStreamOf(options: CommandStreamOptions): CommandStream {
  const load = async () => (await import("./command-stream.js")).CommandStream.of(options);
  return deferred(load, { ...programStream, write: call, end: call, signal: call });
}
