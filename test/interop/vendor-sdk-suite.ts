import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { LocalServer } from "../support/local-server.js";
import {
  createTemplate,
  DesktopNotAvailableError,
  FileNotFoundError,
  Sandbox,
  SandboxExpiredError,
  Template,
} from "../support/vendor-sdk.js";

/** What some servers do not have, each with the reason. */
interface Lacks {
  /** Figures of matplotlib. */
  readonly plots?: string;
  /** Templates that are built. */
  readonly builds?: string;
  /** Sandboxes that can be paused. */
  readonly pauses?: string;
}

/** Uses the vendor's Node.js SDK, unmodified, with a local server. */
export function vendorSdkSuite(
  start: (args: readonly string[]) => Promise<LocalServer>,
  lacks: Lacks = {},
): void {
  let server: LocalServer;
  let sandbox: Sandbox;
  let directory: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "vendor-sdk-"));
    server = await start(["--pool", "2", "--webhook-allow-private"]);
    sandbox = await Sandbox.create({
      ...account(),
      template: "code-interpreter",
      timeoutSeconds: 600,
      envVars: { GREETING: "hello", API_TOKEN: "s3cret" },
    });
  });
  afterAll(async () => {
    await sandbox?.kill();
    await server?.stop();
    await rm(directory, { recursive: true, force: true });
  });

  const account = () => ({ apiKey: server.apiKey, baseURL: server.url });

  describe("runs code", () => {
    test.each([
      ["python", "import os; print(os.environ['GREETING'], 6 * 7)", "hello 42\n"],
      ["javascript", "console.log(process.env.GREETING, 6 * 7)", "hello 42\n"],
      ["bash", "echo $GREETING $((6 * 7))", "hello 42\n"],
    ])("in %s", async (language, code, stdout) => {
      const run = await sandbox.runCode(code, { language });
      expect(run).toMatchObject({ success: true, exit_code: 0, stdout, stderr: "" });
      expect(String(run)).toContain("✅");
    });

    test("with variables and a directory of its own", async () => {
      const run = await sandbox.runCode("echo $MORE; pwd", {
        language: "bash",
        env: { MORE: "and more" },
        workingDir: "/tmp",
      });
      expect(run.stdout).toBe("and more\n/tmp\n");
    });

    test("that fails, as a result", async () => {
      const run = await sandbox.runCode("import sys; print('out'); sys.exit(3)");
      expect(run).toMatchObject({ success: false, exit_code: 3, stdout: "out\n", failed: true });
    });

    test("and gets what it displays", { tags: ["python3-matplotlib"] }, async ({ skip }) => {
      skip(lacks.plots !== undefined, lacks.plots);
      const code =
        "import matplotlib\nmatplotlib.use('agg')\nimport matplotlib.pyplot as plt\nplt.plot([1, 4, 9])\nplt.show()";
      // Import the fonts first: if that takes more than five seconds, matplotlib writes a warning to stderr once.
      await sandbox.runCode("import matplotlib.font_manager");
      const run = await sandbox.runCode(code);
      expect(run.stderr).toBe("");
      expect(run.richOutputs?.map(({ type }) => type)).toContain("image/png");
    });

    test("in IPython", async () => {
      await sandbox.runIpython("kept = 41");
      expect((await sandbox.runIpython("print(kept + 1)")).stdout).toBe("42\n");
    });

    test("frame by frame, losing none", async () => {
      const output: string[] = [];
      const others: string[] = [];
      const code = "import time\nfor i in range(20):\n    print(i, flush=True)\n    time.sleep(0.01)";
      for await (const frame of sandbox.runCodeStream(code)) {
        if (frame.type === "stdout") output.push(frame.data);
        else others.push(frame.type);
      }
      expect(output.join("")).toBe(Array.from({ length: 20 }, (_, i) => `${i}\n`).join(""));
      expect(others).toEqual(["result", "complete"]);
    });

    test("in the background, and kills it", async () => {
      const { process_id: id } = await sandbox.runCodeBackground("sleep 60", {
        language: "bash",
        name: "sleeper",
      });
      const found = async () => (await sandbox.listProcesses()).find(({ process_id }) => process_id === id);
      expect(await found()).toMatchObject({ status: "running", name: "sleeper" });
      await sandbox.killProcess(id);
      expect((await found())?.status).toBe("killed");
    });

    test("and is called back at its end", async () => {
      const callbackUrl = "http://127.0.0.1:9/done";
      const accepted = await sandbox.runCodeAsync("print(1)", { callbackUrl });
      expect(accepted).toMatchObject({ callback_url: callbackUrl, status: "queued" });
    });
  });

  describe("keeps files", () => {
    test("of text", async () => {
      await sandbox.files.write("/workspace/note.txt", "übung\n");
      expect(await sandbox.files.read("/workspace/note.txt")).toBe("übung\n");
      expect(await sandbox.files.exists("/workspace/note.txt")).toBe(true);
      await sandbox.files.remove("/workspace/note.txt");
      expect(await sandbox.files.exists("/workspace/note.txt")).toBe(false);
      await expect(sandbox.files.read("/workspace/note.txt")).rejects.toThrow(FileNotFoundError);
    });

    test("as large as its cookbook has them", async () => {
      const line = "f'Line {i}: This is a test line with some content\\n'";
      await sandbox.runCode(
        `with open('/workspace/large.txt', 'w') as f:\n    for i in range(1000000): f.write(${line})`,
      );
      const lines = (await sandbox.files.read("/workspace/large.txt")).split("\n");
      expect([lines.length, lines.at(-2)]).toEqual([
        1_000_001,
        "Line 999999: This is a test line with some content",
      ]);
      await sandbox.files.remove("/workspace/large.txt");
    });

    test("of bytes, with their mode", async () => {
      const bytes = Buffer.from(Array.from({ length: 512 }, (_, index) => index % 256));
      await sandbox.files.writeBytes("/workspace/bytes.bin", bytes, { mode: "0600" });
      expect(await sandbox.files.readBytes("/workspace/bytes.bin")).toEqual(bytes);
      expect((await sandbox.commands.run("stat -c %a bytes.bin", { workingDir: "/workspace" })).stdout).toBe(
        "600\n",
      );
    });

    test("in directories, told apart from files", async () => {
      await sandbox.files.mkdir("/workspace/shelf/deep");
      await sandbox.files.write("/workspace/shelf/book", "text");
      const entries = await sandbox.files.list("/workspace/shelf");
      expect(entries.map(({ name, isFile, size }) => ({ name, isFile, size: isFile ? size : 0 }))).toEqual([
        { name: "book", isFile: true, size: 4 },
        { name: "deep", isFile: false, size: 0 },
      ]);
      await sandbox.files.remove("/workspace/shelf");
    });

    test("that were on the disk here", async () => {
      const local = join(directory, "local.bin");
      await writeFile(local, "from here");
      await sandbox.files.upload(local, "/workspace/there.bin");
      expect(String(await sandbox.files.download("/workspace/there.bin"))).toBe("from here");
      expect(await readFile(local, "utf8")).toBe("from here");
    });

    test("and sees them change", async () => {
      const watching = (async () => {
        for await (const change of sandbox.watchFiles("/workspace")) {
          if (change.path?.endsWith("/watched.txt")) return change;
        }
        return undefined;
      })();
      // Write the file again and again, because the SDK does not tell when its watch has begun.
      let seen: Awaited<typeof watching>;
      void watching.then((change) => {
        seen = change;
      });
      await expect
        .poll(
          async () => {
            await sandbox.files.write("/workspace/watched.txt", `${Date.now()}`);
            return seen;
          },
          { interval: 200 },
        )
        .toMatchObject({ type: "change", path: "/workspace/watched.txt" });
    });
  });

  test("keeps variables, and shows no secret", async () => {
    const all = { GREETING: "hello", API_TOKEN: "***MASKED***", LANG: "C.UTF-8" };
    expect(await sandbox.env.getAll()).toMatchObject(all);
    await sandbox.env.set("COLOUR", "green");
    await sandbox.env.update({ SHAPE: "round" });
    expect(await sandbox.env.get("COLOUR")).toBe("green");
    // The SDK deletes a variable by reading all of them, with secrets masked, and writing the others back.
    await sandbox.env.delete("COLOUR");
    const { stdout } = await sandbox.commands.run("echo $GREETING $COLOUR $SHAPE $API_TOKEN");
    expect(stdout).toBe("hello round s3cret\n");
  });

  describe("runs commands", () => {
    test("through a shell", async () => {
      const run = await sandbox.commands.run("echo out; echo err >&2; exit 3", { env: { A: "b" } });
      expect(run).toMatchObject({ success: false, exit_code: 3, stdout: "out\n", stderr: "err\n" });
    });

    test("in the background", async () => {
      const { process_id: id } = await sandbox.commands.runBackground("touch /workspace/started; sleep 60");
      expect(id).toMatch(/^cmd_/);
      await expect.poll(() => sandbox.files.exists("/workspace/started")).toBe(true);
      await sandbox.killProcess(id);
    });
  });

  test("types into a terminal", async () => {
    const socket = await sandbox.terminal.connect();
    let output = "";
    const end = (async () => {
      for await (const frame of sandbox.terminal.output(socket)) {
        if (frame.type === "output") output += frame.data;
        if (frame.type === "exit") return frame;
      }
      return undefined;
    })();
    sandbox.terminal.resize(socket, 100, 30);
    sandbox.terminal.sendInput(socket, "stty size; echo typed-$((6 * 7))\n");
    await expect.poll(() => output).toContain("typed-42");
    expect(output).toContain("30 100");
    sandbox.terminal.sendInput(socket, "exit 3\n");
    expect(await end).toMatchObject({ type: "exit", code: 3 });
  });

  test("reads health, facts and metrics", async () => {
    expect(await sandbox.isHealthy()).toBe(true);
    expect(await Sandbox.healthCheck(server.url)).toMatchObject({ status: "healthy" });
    expect(await sandbox.getHealth()).toMatchObject({ features: { code_execution: true } });
    expect(await sandbox.getAgentInfo()).toMatchObject({ vm_id: sandbox.sandboxId });
    expect(await sandbox.getMetricsSnapshot()).toMatchObject({ total_executions: expect.any(Number) });
    expect(await sandbox.getAgentMetrics()).toMatchObject({ uptime_seconds: expect.any(Number) });
    expect((await sandbox.listSystemProcesses()).length).toBeGreaterThan(0);
  });

  test("reads the interpreter's sessions", async () => {
    await sandbox.runCode("1");
    expect(await sandbox.getJupyterSessions()).toEqual(
      expect.arrayContaining([expect.objectContaining({ execution_state: expect.any(String) })]),
    );
  });

  test("reads and empties the cache", async () => {
    expect(await sandbox.cache.stats()).toMatchObject({ cache: { size: expect.any(Number) } });
    await sandbox.cache.clear();
    expect(await sandbox.cache.stats()).toMatchObject({ cache: { size: 0 } });
  });

  test("is told that there is no desktop, at once", async () => {
    const started = performance.now();
    await expect(sandbox.desktop.screenshot()).rejects.toThrow(DesktopNotAvailableError);
    await expect(sandbox.desktop.startVnc()).rejects.toThrow(DesktopNotAvailableError);
    // The SDK repeats requests that are answered with 5xx, after one second and again after two. That takes longer.
    expect(performance.now() - started).toBeLessThan(5500);
  });

  test("moves the deadline, lists and connects", async () => {
    const other = await Sandbox.create({ ...account(), template: "base", timeoutSeconds: 300 });
    await other.setTimeout(900);
    expect(await other.getTimeToExpiry()).toBeGreaterThan(600);
    await other.files.write("/workspace/kept", "yes");
    const again = await Sandbox.connect(other.sandboxId, server.apiKey, server.url);
    expect(await again.files.read("/workspace/kept")).toBe("yes");
    const listed = (await Sandbox.list(account())).map(({ sandboxId }) => sandboxId);
    expect(listed).toEqual(expect.arrayContaining([sandbox.sandboxId, other.sandboxId]));
    const iterated: string[] = [];
    for await (const { sandboxId } of Sandbox.iter(account())) iterated.push(sandboxId);
    expect(iterated.sort()).toEqual(listed.sort());
    await other.refreshToken();
    await other.kill();
    await expect(again.getInfo()).rejects.toThrow(SandboxExpiredError);
  });

  test("pauses, and resumes by connecting", async ({ skip }) => {
    skip(lacks.pauses !== undefined, lacks.pauses);
    const other = await Sandbox.create({ ...account(), template: "base", timeoutSeconds: 300 });
    await other.files.write("/workspace/kept", "yes");
    await other.pause();
    expect((await other.getInfo()).status).toBe("paused");
    const again = await Sandbox.connect(other.sandboxId, server.apiKey, server.url);
    expect(await again.files.read("/workspace/kept")).toBe("yes");
    await other.kill();
  });

  test("finds templates", async () => {
    const names = (await Sandbox.listTemplates(account())).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["base", "code-interpreter"]));
    expect(await Sandbox.getTemplate("base", account())).toMatchObject({ name: "base" });
  });

  test("builds a template with files of ours, and makes a sandbox of it", {
    timeout: 180_000,
  }, async ({ skip }) => {
    skip(lacks.builds !== undefined, lacks.builds);
    await writeFile(join(directory, "app.py"), "print('built')\n");
    const template = createTemplate("base")
      .copy("app.py", "/workspace/app.py")
      .setEnv("STAGE", "test")
      .runCmd("echo made > /workspace/made.txt");
    const logged: string[] = [];
    const built = await Template.build(template, {
      ...account(),
      name: "vendor-built",
      contextPath: directory,
      onLog: ({ message }) => logged.push(message),
    });
    expect(logged.join("\n")).not.toBe("");
    expect((await built.getLogs()).status).toMatch(/active|success/);
    expect((await Sandbox.listTemplates(account())).map(({ name }) => name)).toContain("vendor-built");
    const made = await Sandbox.create({ ...account(), templateId: built.templateID });
    const run = await made.commands.run("python3 app.py; cat made.txt; echo $STAGE", {
      workingDir: "/workspace",
    });
    expect(run.stdout).toBe("built\nmade\ntest\n");
    await made.kill();
    await Sandbox.deleteTemplate(built.templateID, account());
  });
}
