import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a built program, `packages/<name>/dist/main.js`, to its end. */
export async function runBuilt(
  name: "local" | "mcp" | "cli",
  args: readonly string[],
  {
    env = {},
    input = "",
    through = [],
  }: { env?: Record<string, string>; input?: string; through?: readonly string[] } = {},
): Promise<Ended> {
  const main = fileURLToPath(new URL(`../../packages/${name}/dist/main.js`, import.meta.url));
  const [program = "", ...rest] = [...through, process.execPath, main, ...args];
  const child = spawn(program, rest, {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: "pipe",
  });
  child.stdin.end(input);
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "exit"),
  ]);
  return { code: code as number | null, stdout, stderr };
}
