import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const main = fileURLToPath(new URL("../../packages/cli/dist/main.js", import.meta.url));

/** The words that start the built command line. */
export const cloudSandbox = [process.execPath, main];

/** Runs a program to its end. Throws if it fails, or if its output does not contain `expected`. */
export async function runCommand([program, ...args], env, expected, input) {
  const child = spawn(program, args, {
    env,
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "inherit"],
  });
  child.stdin?.end(input);
  let stdout = "";
  child.stdout.setEncoding("utf8").on("data", (chunk) => {
    stdout += chunk;
  });
  const [code] = await once(child, "close");
  if (code !== 0 || (expected !== undefined && !stdout.includes(expected)))
    throw new Error(`${program} ended with ${code}: ${stdout}`);
}
