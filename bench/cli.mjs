import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { hardened } from "./isolated.mjs";
import { compare } from "./measure.mjs";
import { serve } from "./serve.mjs";

const main = fileURLToPath(new URL("../packages/cli/dist/main.js", import.meta.url));
const bareNode = [process.execPath, "-e", "0"];
const printOne = [process.execPath, main, "run", "--code", "print(1)"];

/**
 * Measures the built command `cloud-sandbox` against bare Node.js and bubblewrap, without which it cannot run a
 * program.
 */
export async function benchCli() {
  // bubblewrap mounts this directory as another user, because `hardened` drops root: that user must be able to write to
  // it.
  const directory = mkdtempSync(join(tmpdir(), "bench-"));
  chmodSync(directory, 0o777);
  // Use a home directory of its own: a stored login in the real one would send the command to another server.
  const env = { PATH: process.env.PATH, HOME: directory };
  const server = await serve("--pool", "2");
  const remote = { ...env, CLOUD_SANDBOX_API_KEY: server.apiKey, CLOUD_SANDBOX_BASE_URL: server.url };
  const floor = async () => {
    await run(bareNode, env);
    await run(hardened(directory), env, "1\n");
  };
  // Wait between rounds, because the server boots another machine for its pool after each run.
  const settle = () => new Promise((resolve) => setTimeout(resolve, 400));
  try {
    return [
      await compare({
        name: "cloud-sandbox --help, over a bare Node.js start",
        limit: 1.5,
        rounds: 20,
        floor: () => run(bareNode, env),
        subject: () => run([process.execPath, main, "--help"], env),
      }),
      await compare({
        name: "cloud-sandbox run with a running server, over bare Node.js and bubblewrap with python3",
        limit: 2,
        rounds: 15,
        floor,
        subject: () => run(printOne, remote, "1\n"),
        settle,
      }),
      await compare({
        name: "cloud-sandbox run on this machine, cold, over bare Node.js and bubblewrap with python3",
        limit: 3,
        rounds: 10,
        floor,
        subject: () => run(printOne, env, "1\n"),
        settle,
      }),
    ];
  } finally {
    await server.stop();
    rmSync(directory, { recursive: true });
  }
}

/** Runs a program to its end. Throws if it fails, or if its output is not `expected`. */
async function run([program, ...args], env, expected) {
  const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "inherit"] });
  let stdout = "";
  child.stdout.setEncoding("utf8").on("data", (chunk) => {
    stdout += chunk;
  });
  const [code] = await once(child, "close");
  if (code !== 0 || (expected !== undefined && stdout !== expected))
    throw new Error(`${program} ended with ${code}: ${stdout}`);
}
