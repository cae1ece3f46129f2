import { spawn } from "node:child_process";
import { once } from "node:events";
import { SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root } from "../support/documents/code-blocks.js";
import { type LocalServer, startLocalServer } from "../support/local-server.js";
import { sandboxIds } from "../support/sandbox-ids.js";

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

test("a sandbox is seen from outside by its ports, once something listens", async () => {
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

describe("a process that a signal ends", () => {
  /** A program with a client, which runs `body` (it prints a sandbox's id) and then waits to be ended. */
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
    expect(await sandboxIds(client)).not.toContain(id);
  });

  test("leaves no sandbox of an isolated execution", async () => {
    const { code, by } = await ended(
      "SIGINT",
      `void client.executeIsolated("import time; time.sleep(60)", {
        timeoutSeconds: 60,
        onStep: (step) => { if (step === "execute") console.log(step); },
      });`,
    );
    expect({ code, by }).toEqual({ code: null, by: "SIGINT" });
    expect(await sandboxIds(client)).toEqual([]);
  });

  test.each([
    ["that it was told to leave", creates.replace('"base"', '"base", deleteOnSignal: false'), null],
    ["when the program handles it", `process.on("SIGTERM", () => process.exit(7)); ${creates}`, 7],
    ["when the program handles it once", `process.once("SIGTERM", () => process.exit(7)); ${creates}`, 7],
  ])("leaves the sandboxes that it created %s", async (_, body, expected) => {
    const { id, code } = await ended("SIGTERM", body);
    expect(code).toBe(expected);
    expect(await sandboxIds(client)).toContain(id);
    await client.sandboxes.delete(id);
  });

  test("may delete all by itself", async () => {
    const { id, code } = await ended(
      "SIGTERM",
      `process.on("SIGTERM", () => void client.sandboxes.deleteCreated().then(() => process.exit(7))); ${creates}`,
    );
    expect(code).toBe(7);
    expect(await sandboxIds(client)).not.toContain(id);
  });

  test("is not kept running by the sandboxes that it created", async () => {
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
