import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Sandbox, SandboxClient } from "cloud-sandbox";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { descendants } from "../support/host-processes.js";
import { type LocalServer, startLocalServer } from "../support/local-server.js";

const directory = "/usr/lib/python3/dist-packages";
const obstacle =
  process.getuid?.() === 0 && existsSync(directory)
    ? undefined
    : "packages can be installed on this machine by root only, and on Debian";

const name = `host_package_${randomUUID().replaceAll("-", "")}`;
const file = join(directory, `${name}.py`);
const atStart = join(directory, `${name}.pth`);

let server: LocalServer;
let client: SandboxClient;

beforeEach(async () => {
  server = await startLocalServer({ args: ["--pool", "1"] });
  client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
});
afterEach(async () => {
  for (const path of [file, atStart]) await rm(path, { force: true });
  await client.close();
  await server.stop();
});

/** Resolves when the sandbox has an interpreter that was started in advance and waits for its first program. */
async function waits(sandbox: Sandbox): Promise<void> {
  // One is started ahead only in the place of one that somebody has asked for.
  await sandbox.execute("pass", { language: "python", context: "another" });
  const { exitCode } = await sandbox.commands.run(
    `until [ $(grep -als ^python3 /proc/[0-9]*/cmdline | wc -l) = 2 ]; do sleep 0.05; done`,
  );
  expect(exitCode).toBe(0);
}

// What the host has is in all sandboxes, also in those that other files of tests compare with their templates.
describe("a package that the host gets while the server runs", () => {
  test("is found by sandboxes that run already, and by those to come", async ({ skip }) => {
    skip(obstacle !== undefined, obstacle);
    const before = await client.sandboxes.create();
    await waits(before);
    await writeFile(file, "value = 'found'\n");
    const program = `import ${name}; print(${name}.value)`;
    const after = await client.sandboxes.create();
    for (const sandbox of [before, after]) {
      const { stdout, stderr } = await sandbox.execute(program);
      expect(stdout + stderr).toBe("found\n");
    }
  });

  test("is found by programs whose interpreter would have waited since before", async ({ skip }) => {
    skip(obstacle !== undefined, obstacle);
    const program = `import sys; print(getattr(sys, "${name}", "not found"))`;
    const run = async (): Promise<string> =>
      (await client.executeIsolated(program, { language: "python" })).stdout;
    expect(await run()).toBe("not found\n");
    const waiting = () =>
      descendants(server.pid).filter(({ commandLine }) => /^python3 .*python-driver/s.test(commandLine));
    await expect.poll(waiting).not.toEqual([]);
    // An interpreter reads these lines only when it starts.
    await writeFile(atStart, `import sys; sys.${name} = "found"\n`);
    expect(await run()).toBe("found\n");
  });
});
