import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { startPiped } from "../runtime/host/piped-program.js";
import { protocolLine } from "./content-stream.js";

/** Milliseconds that a program may read or write a copied directory. */
const limitMs = 120_000;

/** The command of `copy-program.ts`, which does what the name says. */
export const copyProgram = (name: string): readonly [string, string, string] => [
  process.execPath,
  fileURLToPath(new URL("./machine/copy-program.cjs", import.meta.url)),
  name,
];

/** Starts the program on this machine, where it takes the rights of a directory's owner. Throws a 503 problem if it cannot start now. */
export const startOnHost = (name: "manifest" | "apply" | "sides"): ChildProcessWithoutNullStreams =>
  startPiped(copyProgram(name), {});

/** The program ended in a way that is not an answer. */
export class CopyProgramError extends Error {
  constructor(
    readonly exitCode: number | null,
    message: string,
  ) {
    super(message);
  }
}

/**
 * Sends the program its request and passes on what it writes. `feed` is called to send what comes after the request; its errors are
 * thrown. Resolves with the exit code when the program has ended; rejects with a {@link CopyProgramError} unless the code is one of
 * `expected`. The program is ended if `onOutput` throws, or on `signal`.
 */
export async function converse(
  program: ChildProcessWithoutNullStreams,
  request: object,
  onOutput: (bytes: Buffer) => void | Promise<void>,
  options: { feed?: () => Promise<void>; expected?: readonly number[]; signal?: AbortSignal } = {},
): Promise<number> {
  const { signal } = options;
  const kill = (): void => void program.kill("SIGKILL");
  const timer = setTimeout(kill, limitMs);
  signal?.addEventListener("abort", kill);
  if (signal?.aborted) kill();
  let errorOutput = "";
  program.stderr.setEncoding("utf8").on("data", (text: string) => {
    errorOutput = (errorOutput + text).slice(-1000);
  });
  const closed = once(program, "close");
  closed.catch(() => undefined);
  // Errors of the pipe, if the program ends early, are told by its exit code.
  program.stdin.on("error", () => undefined).write(protocolLine(request));
  const fed = (options.feed ?? (async () => undefined))();
  // However it ends, or else the program would wait for more until its time is over.
  fed.catch(() => undefined).finally(() => program.stdin.end());
  try {
    for await (const bytes of program.stdout) await onOutput(bytes as Buffer);
    await fed;
    const [code] = (await closed) as [number | null];
    if (code !== null && [0, ...(options.expected ?? [])].includes(code)) return code;
    throw new CopyProgramError(code, errorOutput.trim() || "the program that reads the files was ended");
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", kill);
    kill();
    await fed.catch(() => undefined);
  }
}

/** Takes whole lines from pieces of output, and parses them. */
export function parsedLines<Line>(onLine: (line: Line) => void | Promise<void>) {
  let rest = "";
  return async (bytes: Buffer): Promise<void> => {
    const lines = (rest + bytes.toString("latin1")).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) await onLine(JSON.parse(line) as Line);
  };
}
