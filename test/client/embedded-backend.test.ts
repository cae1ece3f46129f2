import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root } from "../support/documents/code-blocks.js";
import { descendants, hostProcesses } from "../support/host-processes.js";

let directory: string;
let temporary: string;
beforeAll(async () => {
  // Use a directory from which programs can import the packages by name.
  directory = await mkdtemp(join(root, "node_modules", ".embedded-"));
  temporary = await mkdtemp(join(tmpdir(), "embedded-"));
  // Sandboxes run under uids of their own, which must be able to enter this directory.
  await chmod(temporary, 0o755);
});
afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
  await rm(temporary, { recursive: true, force: true });
});

/** Runs a program in a process of its own, without an API key, so that its client starts an embedded backend. */
function start(name: string, program: string) {
  const file = join(directory, `${name}.mjs`);
  const begun = writeFile(file, `import { SandboxClient } from "cloud-sandbox";\n${program}`).then(() =>
    spawn(process.execPath, [file], {
      env: { PATH: process.env.PATH, TMPDIR: temporary },
      stdio: ["ignore", "pipe", "inherit"],
    }),
  );
  return begun;
}

function childrenOf(pid: number): number[] {
  return descendants(pid).map((process) => process.pid);
}

describe("a client without a key", () => {
  test("starts one backend for calls at once, and ends it when it is closed", async () => {
    const before = childrenOf(process.pid);
    const client = new SandboxClient({ backend: "local", local: { pool: 0 } });
    expect(client.backend).toBe("local");
    const [health, one, other] = await Promise.all([
      client.health(),
      client.sandboxes.create({ env: { WHO: "one" } }),
      client.sandboxes.create({ env: { WHO: "other" } }),
    ]);
    expect(health).toMatchObject({ healthy: true, runtime: "bubblewrap", isolation: "namespace" });
    expect(new URL(one.publicHost ?? "").origin).toBe(new URL(other.publicHost ?? "").origin);
    expect((await one.commands.run("echo $WHO")).stdout).toBe("one\n");
    expect((await other.commands.run("echo $WHO")).stdout).toBe("other\n");
    await client.close();
    await expect.poll(() => childrenOf(process.pid).filter((pid) => !before.includes(pid))).toEqual([]);
    await expect(client.health()).rejects.toMatchObject({ code: "CLIENT_CLOSED" });
    await expect(fetch(one.publicHost ?? "")).rejects.toThrow();
  });

  test("ends its backend when the program has nothing more to do, though nothing was closed", async () => {
    const program = await start(
      "forgetful",
      `const sandbox = await new SandboxClient().sandboxes.create({ internetAccess: true });
       await sandbox.commands.runBackground("sleep 1000");
       await sandbox.executeStream("print('streamed')").result();
       console.log((await sandbox.execute("print(6 * 7)")).stdout.trim());
       await sandbox.files.write("/workspace/large", new Uint8Array(9_000_000));`,
    );
    const said = text(program.stdout);
    expect(await once(program, "exit")).toEqual([0, null]);
    expect(await said).toBe("42\n");
    expect(await readdir(temporary)).toEqual([]);
  });

  test("leaves nothing when its process is killed", async () => {
    const program = await start(
      "killed",
      `const sandbox = await new SandboxClient().sandboxes.create();
       await sandbox.commands.runBackground("sleep 1000");
       console.log("ready");
       await new Promise((resolve) => setTimeout(resolve, 1_000_000));`,
    );
    await once(program.stdout, "data");
    const running = childrenOf(program.pid ?? 0);
    expect(running.length).toBeGreaterThan(3);
    program.kill("SIGKILL");
    await expect.poll(() => hostProcesses().filter(({ pid }) => running.includes(pid))).toEqual([]);
  });

  test("says why this machine can start no backend, and tries again with the next call", async () => {
    const { PATH } = process.env;
    await using client = new SandboxClient({ backend: "local", local: { pool: 0 } });
    process.env.PATH = "/nowhere";
    try {
      await expect(client.health()).rejects.toMatchObject({
        name: "ConfigurationError",
        code: "LOCAL_BACKEND_UNAVAILABLE",
        message: expect.stringMatching(/bubblewrap.*CLOUD_SANDBOX_API_KEY/s),
      });
    } finally {
      process.env.PATH = PATH;
    }
    expect(await client.health()).toMatchObject({ healthy: true });
  });
});
