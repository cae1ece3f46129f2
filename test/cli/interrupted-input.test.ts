import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const main = fileURLToPath(new URL("../../packages/cli/dist/main.js", import.meta.url));

/** Whether a process has a handler for SIGINT. */
function catchesInterrupt(pid: number | undefined): boolean {
  const [, caught = "0"] = /^SigCgt:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return (BigInt(`0x${caught}`) & 2n) !== 0n;
}

test.each([
  ["secret", "set", "name", "--host", "api.example.com"],
  ["login", "--url", "http://127.0.0.1:1"],
  ["run", "-"],
])("%s ends when it is interrupted while it reads its input", async (...args) => {
  const child = spawn(process.execPath, [main, ...args], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, CLOUD_SANDBOX_BASE_URL: "http://127.0.0.1:1" },
    stdio: ["pipe", "ignore", "ignore"],
  });
  await expect.poll(() => catchesInterrupt(child.pid)).toBe(true);
  // It reads a moment later.
  await sleep(500);
  const ended = once(child, "exit");
  child.kill("SIGINT");
  const late = setTimeout(() => child.kill("SIGKILL"), 10_000);
  expect(await ended).toEqual([130, null]);
  clearTimeout(late);
});
