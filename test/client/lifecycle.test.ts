import { spawn } from "node:child_process";
import { once } from "node:events";
import { SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root } from "../support/code-blocks.js";
import { type LocalServer, startLocalServer } from "../support/local-server.js";

let server: LocalServer;
let client: SandboxClient;
beforeAll(async () => {
  server = await startLocalServer({ args: ["--pool", "1"] });
  client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
});
afterAll(async () => {
  await client?.close();
  await server?.stop();
});

async function ids(filter: Parameters<SandboxClient["sandboxes"]["list"]>[0] = {}): Promise<string[]> {
  const found: string[] = [];
  for await (const { id } of client.sandboxes.list(filter)) found.push(id);
  return found;
}

describe("a sandbox", () => {
  test("of a name is made once, and found by its name and labels", async () => {
    const metadata = { owner: "a & b", stage: "test" };
    const first = await client.sandboxes.getOrCreate("shared", { template: "base", metadata });
    await first.files.write("kept", "yes");
    await first.pause();
    const second = await client.sandboxes.getOrCreate("shared", { template: "base" });
    expect(second.id).toBe(first.id);
    expect(await second.files.readText("kept")).toBe("yes");
    await using other = await client.sandboxes.create({ template: "base", metadata: { stage: "test" } });
    expect(await ids({ name: "shared" })).toEqual([first.id]);
    expect(await ids({ metadata: { owner: "a & b" } })).toEqual([first.id]);
    expect((await ids({ metadata: { stage: "test" }, limit: 1 })).sort()).toEqual(
      [first.id, other.id].sort(),
    );
    await first.delete();
    await first.delete();
    expect(await ids({ name: "shared" })).toEqual([]);
  });

  test("that is stopped is started only when that is asked for", async () => {
    await using sandbox = await client.sandboxes.create({ template: "base" });
    await sandbox.files.write("kept", "yes");
    await sandbox.stop();
    await expect(client.sandboxes.connect(sandbox.id)).rejects.toMatchObject({ code: "SANDBOX_NOT_RUNNING" });
    const started = await client.sandboxes.connect(sandbox.id, { start: true });
    expect(await started.files.readText("kept")).toBe("yes");
  });

  test("is gone at the end of its scope", async () => {
    let id = "";
    {
      await using sandbox = await client.sandboxes.create({ template: "base" });
      id = sandbox.id;
    }
    expect(await ids()).not.toContain(id);
  });

  test("lives on while it is used, and is let go once it is not", async () => {
    await using sandbox = await client.sandboxes.create({ template: "base", timeoutSeconds: 12 });
    const before = sandbox.expiresAt?.getTime() ?? 0;
    using kept = sandbox.keepAlive({ seconds: 60 });
    await expect.poll(() => sandbox.expiresAt?.getTime()).toBeGreaterThan(before + 40_000);
    using brief = sandbox.keepAlive({ seconds: 10, maxSeconds: 0.1 });
    expect(await brief.ended).toBe("maximum");
    kept.stop();
    expect(await kept.ended).toBe("stopped");
  });

  test("that somebody deletes is kept no longer", async () => {
    const sandbox = await client.sandboxes.create({ template: "base", timeoutSeconds: 20 });
    await sandbox.delete();
    expect(await sandbox.keepAlive({ seconds: 60 }).ended).toBe("gone");
  });

  test("tells before it ends, by the deadline that it has then", async () => {
    await using sandbox = await client.sandboxes.create({ template: "base", timeoutSeconds: 30 });
    const elsewhere = await client.sandboxes.get(sandbox.id);
    const calls: number[] = [];
    const leave = sandbox.onExpiring(
      async ({ expiresAt }) => {
        calls.push(expiresAt?.getTime() ?? 0);
        if (calls.length === 1) await elsewhere.setTimeout(32);
        if (calls.length === 1) await sandbox.refresh();
      },
      { secondsBefore: 30.5 },
    );
    await expect.poll(() => calls.length, { timeout: 8000 }).toBe(2);
    expect(calls[1]).toBeGreaterThan(calls[0] ?? 0);
    leave();
  });

  test("shows its metrics as they change, and as Prometheus reads them", async () => {
    await using sandbox = await client.sandboxes.create({ template: "base" });
    let seen = 0;
    for await (const { uptimeSeconds } of sandbox.metrics.stream()) {
      expect(uptimeSeconds).toBeGreaterThanOrEqual(0);
      if (++seen === 2) break;
    }
    expect(seen).toBe(2);
    expect(await sandbox.metrics.prometheus()).toContain("hopx_agent_");
  });

  test("says what it is", async () => {
    await using sandbox = await client.sandboxes.create();
    await sandbox.execute("x = 1");
    expect(await sandbox.system.machine()).toMatchObject({ os: expect.any(Object) });
    expect(await sandbox.system.sessions()).toMatchObject([{ language: "python" }]);
    expect(await sandbox.system.cacheStatistics()).toMatchObject({ size: expect.any(Number) });
    expect(await sandbox.system.clearCache()).toBe(0);
    await expect(sandbox.desktop.screenshot()).rejects.toMatchObject({ code: "DESKTOP_NOT_AVAILABLE" });
  });

  test("is seen from outside by its ports, once something listens", async () => {
    await using sandbox = await client.sandboxes.create();
    await expect(sandbox.ports.waitForPort(8123, { timeoutSeconds: 1 })).rejects.toMatchObject({
      name: "TimeoutError",
      kind: "execution",
    });
    await sandbox.files.write("page.txt", "seen from outside");
    await sandbox.commands.run("nohup python3 -m http.server 8123 >/dev/null 2>&1 &");
    await sandbox.ports.waitForPort(8123, { timeoutSeconds: 20 });
    const page = await fetch(new URL("page.txt", sandbox.ports.previewUrl(8123, { form: "path" })));
    expect(await page.text()).toBe("seen from outside");
    expect(new URL(sandbox.ports.previewUrl(8123)).hostname).toContain("8123");
  });
});

describe("a process that a signal ends", () => {
  /** Prints the ids of what it has made, then waits for its end. */
  const program = (body: string): string => `
    import { SandboxClient } from "cloud-sandbox";
    const client = new SandboxClient();
    ${body}
    setInterval(() => undefined, 1000);`;
  const creates = `console.log((await client.sandboxes.create({ template: "base" })).id);`;

  async function ended(signal: NodeJS.Signals, body: string) {
    const child = spawn(process.execPath, ["--input-type=module", "-e", program(body)], {
      cwd: root,
      env: { ...process.env, CLOUD_SANDBOX_API_KEY: server.apiKey, CLOUD_SANDBOX_BASE_URL: server.url },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = await once(child.stdout, "data");
    child.kill(signal);
    const [code, by] = await once(child, "exit");
    return { id: String(line).trim(), code, by };
  }

  test.each<NodeJS.Signals>(["SIGINT", "SIGTERM"])("%s leaves no sandbox, and dies of it", async (signal) => {
    const { id, code, by } = await ended(signal, creates);
    expect({ code, by }).toEqual({ code: null, by: signal });
    expect(await ids()).not.toContain(id);
  });

  test("leaves no sandbox of an isolated execution", async () => {
    const { code, by } = await ended(
      "SIGINT",
      `void client.executeIsolated("import time; time.sleep(60)", {
        timeout: 60,
        onStep: (step) => { if (step === "execute") console.log(step); },
      });`,
    );
    expect({ code, by }).toEqual({ code: null, by: "SIGINT" });
    expect(await ids()).toEqual([]);
  });

  test.each([
    ["that it was told to leave", creates.replace('"base"', '"base", deleteOnSignal: false'), null],
    ["when the program handles it", `process.on("SIGTERM", () => process.exit(7)); ${creates}`, 7],
    ["when the program handles it once", `process.once("SIGTERM", () => process.exit(7)); ${creates}`, 7],
  ])("leaves what it made %s", async (_, body, expected) => {
    const { id, code } = await ended("SIGTERM", body);
    expect(code).toBe(expected);
    expect(await ids()).toContain(id);
    await client.sandboxes.delete(id);
  });

  test("may delete all by itself", async () => {
    const { id, code } = await ended(
      "SIGTERM",
      `process.on("SIGTERM", () => void client.sandboxes.deleteCreated().then(() => process.exit(7))); ${creates}`,
    );
    expect(code).toBe(7);
    expect(await ids()).not.toContain(id);
  });

  test("is not kept alive by what it made", async () => {
    const body = `const sandbox = await client.sandboxes.create({ template: "base", timeoutSeconds: 60 });
      sandbox.keepAlive();
      sandbox.onExpiring(() => undefined);
      console.log(sandbox.id);`;
    const child = spawn(
      process.execPath,
      ["--input-type=module", "-e", program(body).replace(/setInterval.*/, "await client.close();")],
      {
        cwd: root,
        env: { ...process.env, CLOUD_SANDBOX_API_KEY: server.apiKey, CLOUD_SANDBOX_BASE_URL: server.url },
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    const [line] = await once(child.stdout, "data");
    expect(await once(child, "exit")).toEqual([0, null]);
    await client.sandboxes.delete(String(line).trim());
  });
});
