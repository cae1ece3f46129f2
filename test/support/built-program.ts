import { spawn } from "node:child_process";
import { once } from "node:events";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

export interface Ended<Output = string> {
  readonly code: number | null;
  readonly stdout: Output;
  readonly stderr: Output;
}

type BuiltProgram = "local" | "mcp" | "cli";

interface RunOptions {
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly input?: string | Uint8Array | undefined;
  readonly through?: readonly string[];
}

/** Runs a built program, `packages/<name>/dist/main.js`, to its end. */
export async function runBuilt(
  name: BuiltProgram,
  args: readonly string[],
  options?: RunOptions,
): Promise<Ended> {
  const { code, stderr, stdout } = await runBuiltForBytes(name, args, options);
  return { code, stdout: stdout.toString(), stderr: stderr.toString() };
}

/** As `runBuilt`, with the output as bytes. */
export async function runBuiltForBytes(
  name: BuiltProgram,
  args: readonly string[],
  { env, input, through = [] }: RunOptions = {},
): Promise<Ended<Buffer>> {
  const main = fileURLToPath(new URL(`../../packages/${name}/dist/main.js`, import.meta.url));
  return runForBytes([...through, process.execPath, main, ...args], { env, input });
}

/** Runs a program to its end. */
export async function runProgram(command: readonly string[], options?: RunOptions): Promise<Ended> {
  const { code, stderr, stdout } = await runForBytes(command, options);
  return { code, stdout: stdout.toString(), stderr: stderr.toString() };
}

async function runForBytes(
  [program = "", ...args]: readonly string[],
  { env = {}, input = "" }: RunOptions = {},
): Promise<Ended<Buffer>> {
  const child = spawn(program, args, {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: "pipe",
  });
  // A program need not read its input.
  child.stdin.on("error", () => undefined).end(input);
  const [stdout, stderr, [code]] = await Promise.all([
    buffer(child.stdout),
    buffer(child.stderr),
    once(child, "exit"),
  ]);
  return { code: code as number | null, stdout, stderr };
}
