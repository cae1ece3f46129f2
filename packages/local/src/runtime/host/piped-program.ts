import {
  type ChildProcess,
  type ChildProcessWithoutNullStreams,
  type SpawnOptions,
  spawn,
} from "node:child_process";
import { Problem } from "@cloud-sandbox/server-kit";
import { openFilesAdvice } from "./open-files.js";

/**
 * Starts a program with pipes, in the root directory. Throws a 503 problem if this process cannot start one now, as without a free file
 * descriptor or process.
 */
export const startPiped = (command: readonly string[], env: NodeJS.ProcessEnv) =>
  startProgram(command, { env, stdio: ["pipe", "pipe", "pipe"] }) as ChildProcessWithoutNullStreams;

/** As {@link startPiped}, with other options. */
export function startProgram(
  [program = "", ...args]: readonly string[],
  options: SpawnOptions,
): ChildProcess {
  const child = attemptedSpawn(program, args, options);
  // Without a listener, the error that Node.js reports later would end this process.
  child.on("error", () => undefined);
  if (child.pid === undefined) throw cannotStart();
  return child;
}

function attemptedSpawn(program: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  try {
    return spawn(program, args, { ...options, cwd: "/" });
  } catch (error) {
    throw cannotStart(error);
  }
}

const cannotStart = (cause?: unknown): Problem =>
  new Problem(503, "SERVICE_UNAVAILABLE", "This server cannot start another program now.", {
    hint: openFilesAdvice(),
    headers: { "retry-after": "1" },
    cause,
  });
