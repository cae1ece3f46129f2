import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
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

  test("prepares for code that needs no sandbox, if it is told to expect that first, and makes sandboxes too", async () => {
    const client = new SandboxClient({ backend: "local", local: { pool: 0, expects: "isolatedCode" } });
    await client.health();
    // The program that starts such code runs before there is any.
    await expect
      .poll(() =>
        descendants(process.pid).some(({ commandLine }) => commandLine.startsWith("program-launcher ")),
      )
      .toBe(true);
    expect((await client.executeIsolated("print(6 * 7)")).stdout).toBe("42\n");
    const sandbox = await client.sandboxes.create();
    expect((await sandbox.commands.run("echo made")).stdout).toBe("made\n");
    await client.close();
  });

  describe("that expects code of Python first", () => {
    const waiting = () =>
      descendants(process.pid).filter(({ commandLine }) => /^python3 .*python-driver/s.test(commandLine));
    const expecting = async () => {
      const client = new SandboxClient({ backend: "local", local: { pool: 0, expects: "isolatedPython" } });
      await client.health();
      await expect.poll(waiting).not.toEqual([]);
      return client;
    };

    test("runs it in an interpreter that was started before, and the next code in another one", async () => {
      const client = await expecting();
      const ahead = waiting().map(({ pid }) => pid);
      const stream = client.executeIsolatedStream("import time; print('begun', flush=True); time.sleep(60)");
      for await (const event of stream) {
        if (event.type !== "stdout") continue;
        expect(waiting().map(({ pid }) => pid)).toEqual(ahead);
        break;
      }
      expect((await client.executeIsolated("print(6 * 7)")).stdout).toBe("42\n");
      await client.close();
      expect(waiting()).toEqual([]);
    });

    test.each([
      ["other languages", "console.log(42)", { language: "javascript" }],
      ["code with variables", "import os; print(os.environ['ANSWER'])", { env: { ANSWER: "42" } }],
    ] as const)("ends that interpreter for %s", async (_, code, options) => {
      const client = await expecting();
      expect((await client.executeIsolated(code, options)).stdout).toBe("42\n");
      expect(waiting()).toEqual([]);
      await client.close();
    });

    test("ends it with the client if nothing was run", async () => {
      const client = await expecting();
      await client.close();
      expect(waiting()).toEqual([]);
    });
  });

  test("keeps the directories that code may write to in the user's cache, and none of what code writes there", async () => {
    vi.stubEnv("XDG_CACHE_HOME", temporary);
    const kept = join(temporary, "cloud-sandbox-local", "tree-usr");
    try {
      for (const had of [false, true]) {
        expect(existsSync(kept)).toBe(had);
        await using client = new SandboxClient({
          backend: "local",
          local: { pool: 0, expects: "isolatedCode" },
        });
        const code = `import os
for directory in ("/usr/lib", "/usr/share/doc", "/usr/local/lib"):
  print(sorted(set(os.listdir(directory)) & {"made", "left"}))
  open(directory + "/left", "w").close()
  os.mkdir(directory + "/made")`;
        expect(await client.executeIsolated(code)).toMatchObject({ stdout: "[]\n".repeat(3), stderr: "" });
      }
      expect(await readdir(join(kept, "lib"))).not.toContain("made");
      expect(await readdir("/usr/lib")).not.toContain("made");
    } finally {
      vi.unstubAllEnvs();
      await rm(join(temporary, "cloud-sandbox-local"), { recursive: true, force: true });
    }
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
