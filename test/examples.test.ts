import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hostProcesses } from "./support/host-processes.js";
import { type LocalServer, startLocalServer } from "./support/local-server.js";

describe("examples that use the client", () => {
  let server: LocalServer;
  beforeAll(async () => {
    server = await startLocalServer();
  });
  afterAll(async () => {
    await server.stop();
  });

  it.each([
    ["run-once.mjs", "The program printed 5050 and ended with 0.\n"],
    ["workspace.mjs", "Total: 450\nFiles: sales.csv total.txt\n"],
    ["list-templates.mjs", /^code-interpreter: .+\nbase: .+\n$/],
  ])("%s", async (name, expected) => {
    const env = { CLOUD_SANDBOX_API_KEY: server.apiKey, CLOUD_SANDBOX_BASE_URL: server.url };
    const { code, stdout, stderr } = await runExample(name, env);
    expect(stderr).toBe("");
    expect(stdout).toEqual(typeof expected === "string" ? expected : expect.stringMatching(expected));
    expect(code).toBe(0);
  });
});

describe("the demo", () => {
  it("runs three programs in sandboxes, and leaves no process and no file", async () => {
    const directory = await mkdtemp(join(tmpdir(), "demo-test-"));
    // Sandboxes have users of their own, who must get through.
    await chmod(directory, 0o755);
    try {
      const { code, stdout } = await runExample("demo.mjs", { TMPDIR: directory });
      for (const line of [
        "170.00",
        "180.00",
        "120.0 %",
        "0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89",
        "Linux sandbox",
      ]) {
        expect(stdout).toContain(line);
      }
      expect(
        stdout.match(/isolation "(namespace|container|gvisor|microvm)", \d+ ms, exit code 0/g),
      ).toHaveLength(3);
      expect(code).toBe(0);
      expect(await readdir(directory)).toEqual([]);
      expect(hostProcesses().filter(({ commandLine }) => commandLine.includes(directory))).toEqual([]);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });

  it("fails where no sandbox can be started, and says why", async () => {
    const { code, stdout } = await runExample("demo.mjs", { PATH: "/nowhere" });
    expect(stdout).toContain("bubblewrap");
    expect(code).toBe(1);
  });
});

async function runExample(
  name: string,
  env: Record<string, string>,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const file = fileURLToPath(new URL(`../examples/${name}`, import.meta.url));
  const child = spawn(process.execPath, [file], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "exit"),
  ]);
  return { code: code as number | null, stdout, stderr };
}
