import { type ExecutionProgress, type Sandbox, SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sandboxService, withSandbox } from "../../packages/client/test/support/sandbox-service.js";
import { type LocalServer, startLocalServer } from "../support/local-server.js";
import { processCount } from "../support/process-count.js";

let server: LocalServer;
let client: SandboxClient;
let sandbox: Sandbox;
beforeAll(async () => {
  server = await startLocalServer({ args: ["--pool", "0"] });
  client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
  sandbox = await client.sandboxes.create();
});
afterAll(async () => {
  await client.close();
  await server.stop();
});

const running = async (command: string): Promise<string> =>
  (await sandbox.commands.run(`${processCount(command)} || true`)).stdout.trim();

describe("what ends in time is the result itself", () => {
  test.each([
    ["plain, where its limit is short", 20, 30],
    ["from the background, where its limit is long", 60, 40],
  ])("%s", async (_, timeoutSeconds, detachAfterSeconds) => {
    await sandbox.execute("base = 40");
    const run = await sandbox.execute("print('out')\nbase + 2", {
      timeoutSeconds,
      detachAfterSeconds,
    });
    expect(run).toMatchObject({ stdout: "out\n", stderr: "", exitCode: 0, success: true, value: "42" });
    expect(run).toMatchObject({ output: { stdout: { truncated: false, bytes: 4 } } });
  });

  test("of a command", async () => {
    const run = await sandbox.commands.run("echo out; echo err >&2; exit 3", {
      timeoutSeconds: 60,
      detachAfterSeconds: 40,
    });
    expect(run).toMatchObject({ stdout: "out\n", stderr: "err\n", exitCode: 3, success: false });
  });

  test("of code in a sandbox of its own, which is deleted", async () => {
    const run = await client.executeIsolated("print(1)", {
      timeoutSeconds: 60,
      detachAfterSeconds: 40,
    });
    expect(run).toMatchObject({ stdout: "1\n", cleanupError: undefined });
    if (run.kind !== "result") throw new Error("It was handed over.");
    await expect(client.sandboxes.get(run.sandboxId)).rejects.toMatchObject({ name: "NotFoundError" });
  });

  test("with head and tail of a long output, and where all of it is", async () => {
    const code = "print('first'); print('x' * 3_000_000); print('last')";
    const run = await sandbox.execute(code, { timeoutSeconds: 60, detachAfterSeconds: 40 });
    if (run.kind !== "result") throw new Error("It was handed over.");
    expect(run.stdout).toMatch(/^first\nx+\n\[\.\.\. 1951436 bytes cut \.\.\.\]\nx+\nlast\n$/);
    const { bytes, file, truncated } = run.output.stdout;
    expect({ bytes, truncated }).toEqual({ bytes: 3_000_012, truncated: true });
    expect((await sandbox.commands.run(`wc -c < ${file}`)).stdout).toBe("3000012\n");
  });
});

describe("what takes longer is handed over", () => {
  test("as the same run, with the variables of its context", async () => {
    const code =
      "import os, time\nprint('begun', flush=True)\nwhile not os.path.exists('/tmp/go'): time.sleep(0.02)\nleft = 7";
    const told: ExecutionProgress[] = [];
    const job = await sandbox.execute(code, {
      timeoutSeconds: 60,
      detachAfterSeconds: 9,
      onProgress: (progress) => told.push(progress),
    });
    if (job.kind !== "execution") throw new Error("It was not handed over.");
    expect(told).toContainEqual(expect.objectContaining({ stdoutBytes: 6, stderrBytes: 0 }));
    expect(await job.output()).toMatchObject({ status: "running", stdout: "begun\n" });
    await sandbox.files.write("/tmp/go", "");
    expect(await job.result()).toMatchObject({ stdout: "begun\n", exitCode: 0 });
    expect((await sandbox.execute("left")).value).toBe("7");
  });

  test("with the sandbox that was made for it", async () => {
    const options = { language: "bash", timeoutSeconds: 60, detachAfterSeconds: 1 };
    const handed = await client.executeIsolated("sleep 30", options);
    if (handed.kind !== "execution") throw new Error("It was not handed over.");
    expect(await handed.execution.status()).toMatchObject({ status: "running" });
    const remaining = (handed.sandbox.expiresAt?.getTime() ?? 0) - Date.now();
    expect(remaining).toBeGreaterThan(600_000);
    await handed.sandbox.delete();
  });
});

test("a call that is aborted while it waits kills its run", async () => {
  const stopping = new AbortController();
  const options = { language: "bash", timeoutSeconds: 60, detachAfterSeconds: 30, signal: stopping.signal };
  const run = sandbox.execute("sleep 34567", options);
  await expect.poll(() => running("sleep 34567")).toBe("1");
  stopping.abort();
  await expect(run).rejects.toMatchObject({ name: "AbortError" });
  await expect.poll(() => running("sleep 34567")).toBe("0");
});

test("code that does not get its turn in time is not started later", async () => {
  const first = await sandbox.executeBackground("import time; time.sleep(60)", { context: "busy" });
  const options = { context: "busy", timeoutSeconds: 60, detachAfterSeconds: 1 };
  const second = sandbox.execute("open('/tmp/second', 'w')", options);
  await expect(second).rejects.toMatchObject({ name: "TimeoutError", code: "CONTEXT_BUSY" });
  await first.kill();
  await sandbox.execute("1", { context: "busy" });
  expect(await sandbox.files.exists("/tmp/second")).toBe(false);
});

test("a server that does not state its isolation is asked for a plain execution", async () => {
  const { agent } = await sandboxService();
  const foreign = await withSandbox(agent.url, {}, { isolation: undefined });
  expect(await foreign.execute("1", { timeoutSeconds: 300, detachAfterSeconds: 45 })).toMatchObject({
    exitCode: 0,
  });
  expect(agent.requests.map(({ path }) => path)).toEqual(["/execute/rich"]);
});

test.each([0, Number.NaN, -1])("a detachAfterSeconds of %s is refused", async (detachAfterSeconds) => {
  await expect(sandbox.execute("1", { detachAfterSeconds })).rejects.toMatchObject({
    name: "ValidationError",
  });
});
