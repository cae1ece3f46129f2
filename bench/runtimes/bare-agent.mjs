import { spawn, spawnSync } from "node:child_process";
import { generateKeyPairSync, randomUUID } from "node:crypto";
import { once } from "node:events";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const built = fileURLToPath(new URL("../../packages/agent/dist/", import.meta.url));

/**
 * Calls `use` with a function that starts an agent as a bare process, with its stored compiled code, and resolves when it
 * answers, with a function that ends it.
 */
export async function withBareAgent(use) {
  const directory = mkdtempSync(join(tmpdir(), "bench-"));
  try {
    for (const file of ["main.cjs", "program.cjs", "node-proxy.cjs"])
      copyFileSync(join(built, file), join(directory, file));
    const main = join(directory, "main.cjs");
    const rehearsal = join(directory, "rehearsal");
    mkdirSync(rehearsal);
    const { stdout } = spawnSync(process.execPath, [main, "--compile", rehearsal]);
    writeFileSync(join(directory, "program.cache"), stdout);
    return await use(() => startAgent(main, directory));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function startAgent(main, directory) {
  const publicKey = generateKeyPairSync("ed25519").publicKey.export({ format: "pem", type: "spki" });
  const socketPath = join(directory, `${randomUUID()}.sock`);
  const config = { sandboxId: "bench", publicKey, listen: { socket: socketPath }, roots: [directory] };
  const agent = spawn(process.execPath, [main, "--config", JSON.stringify(config)], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const exit = once(agent, "exit");
  while (!(await answers(socketPath))) {
    if (agent.exitCode !== null) throw new Error(`the agent ended with ${agent.exitCode}`);
    await sleep(1);
  }
  return async () => {
    agent.kill("SIGKILL");
    await exit;
    rmSync(socketPath);
  };
}

function answers(socketPath) {
  return new Promise((resolve) => {
    get({ socketPath, path: "/health", agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    }).on("error", () => resolve(false));
  });
}
