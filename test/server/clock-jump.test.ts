import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ControlPlaneCaller } from "../support/control-plane-caller.js";
import { startLocalServer } from "../support/local-server.js";

/**
 * A program that the server loads at its start. On SIGUSR2 it sets the server's clock forward by an hour, as happens
 * when a machine wakes from sleep.
 */
const jump = `const { now } = Date;
let offset = 0;
Date.now = () => now() + offset;
process.on("SIGUSR2", () => { offset += 3600_000; });`;

test("a sandbox whose deadline a jump of the clock has passed ends at once, and no other does", async () => {
  const directory = mkdtempSync(join(tmpdir(), "clock-"));
  const preload = join(directory, "jump.cjs");
  writeFileSync(preload, jump);
  const server = await startLocalServer({
    args: ["--pool", "0"],
    env: { NODE_OPTIONS: `--require ${preload}` },
  });
  try {
    const api = new ControlPlaneCaller(server);
    const [near, far] = await Promise.all([
      api.create({ timeout_seconds: 1800 }),
      api.create({ timeout_seconds: 7200 }),
    ]);
    process.kill(server.pid, "SIGUSR2");
    await expect.poll(() => api.told("GET", `/sandboxes/${near.id}`)).toBe("410 SANDBOX_EXPIRED");
    expect(await api.told("GET", `/sandboxes/${far.id}`)).toBe("200 running");
  } finally {
    await server.stop();
    rmSync(directory, { recursive: true });
  }
});
