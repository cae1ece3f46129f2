import type { Writable } from "node:stream";
import { Problem } from "@cloud-sandbox/server-kit";
import { killGroup } from "../execution/programs/process-sweep.js";
import { startProcess } from "../execution/programs/started-program.js";

export interface ToolCall {
  readonly command: string;
  readonly args: readonly string[];
  readonly input?: string | Buffer;
  /** Milliseconds after which the tool is killed. Default 10,000: tools hang when a program in the sandbox stands in for the X server. */
  readonly timeoutMs?: number | undefined;
  /** Most bytes of output. Default 1 MiB. */
  readonly maxBytes?: number;
  /** Kills the tool when it aborts. */
  readonly signal?: AbortSignal | undefined;
  /** Whether a process of the tool goes on after it, as xclip does, which then must not hold its output open. */
  readonly staysBehind?: boolean;
}

export interface ToolOutput {
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

const defaultTimeoutMs = 10_000;
const mebibyte = 1024 * 1024;
const longestComplaint = 16 * 1024;

/** Runs one of the desktop's tools to its end. Rejects if it takes too long, writes too much or is aborted. */
export async function runTool(
  { command, args, input, timeoutMs = defaultTimeoutMs, maxBytes = mebibyte, signal, staysBehind }: ToolCall,
  environment: Readonly<Record<string, string>>,
  id: string,
): Promise<ToolOutput> {
  signal?.throwIfAborted();
  const output = staysBehind ? "ignore" : "pipe";
  const stdio = [input === undefined ? "ignore" : "pipe", output, output] as const;
  const { child, pid, exit } = await startProcess(
    { command, args },
    { cwd: "/", env: environment, stdio: [...stdio], id },
  );
  let failure: Error | undefined;
  const end = (reason: Error) => {
    failure ??= reason;
    killGroup(pid, "SIGKILL");
  };
  const timer = setTimeout(() => end(tooSlow(command, timeoutMs)), timeoutMs);
  const abort = () => end(signal?.reason instanceof Error ? signal.reason : new Error("aborted"));
  signal?.addEventListener("abort", abort, { once: true });
  const stdout: Buffer[] = [];
  let bytes = 0;
  let stderr = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBytes) end(tooMuch(command, maxBytes));
    else stdout.push(chunk);
  });
  child.stderr?.on("data", (chunk: Buffer) => {
    if (stderr.length < longestComplaint) stderr += chunk.toString();
  });
  const closed = staysBehind ? exit : new Promise((resolve) => child.once("close", resolve));
  if (input !== undefined) writeAll(child.stdin, input);
  try {
    const [code] = await exit;
    // Without the tool, whoever has inherited its output holds it open for nothing.
    if (failure) child.stdout?.destroy();
    if (failure) child.stderr?.destroy();
    await closed;
    if (failure) throw failure;
    return { code, stdout: Buffer.concat(stdout), stderr };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}

/** Writes a tool's input. A tool may end without reading it. */
function writeAll(stdin: Writable | null, input: string | Buffer): void {
  stdin?.on("error", () => undefined);
  stdin?.end(input);
}

const tooSlow = (command: string, timeoutMs: number): Problem =>
  new Problem(
    409,
    "DESKTOP_FAILED",
    `The desktop did not answer within ${timeoutMs / 1000} s (${command}): it is busy, or a program in the sandbox holds it.`,
    { hint: "Try again; if that fails too, end the programs that use the desktop." },
  );

const tooMuch = (command: string, maxBytes: number): Problem =>
  new Problem(
    400,
    "PAYLOAD_TOO_LARGE",
    `The desktop gave more than ${Math.floor(maxBytes / mebibyte)} MiB (${command}), the most that is read.`,
    { hint: "Ask for less: a part of the screen, a smaller resolution or a shorter text." },
  );
