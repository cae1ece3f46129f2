import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { type Sandbox, SandboxClient } from "cloud-sandbox";
import { request } from "undici";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type LocalServer, startLocalServer } from "../support/local-server.js";

const sleeping = { template: "base", autoStart: true, onTimeout: "stop" } as const;
const statusOf = async (sandbox: Sandbox): Promise<string> => (await sandbox.refresh()).status;
const clientOf = ({ url, apiKey }: LocalServer): SandboxClient => new SandboxClient({ apiKey, baseUrl: url });

describe("sandboxes that sleep", { tags: ["sandboxes"] }, () => {
  let directory: string;
  const servers: LocalServer[] = [];
  const start = async (...args: string[]): Promise<LocalServer> => {
    const server = await startLocalServer({ args: ["--pool", "0", "--data-dir", directory, ...args] });
    servers.push(server);
    return server;
  };
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "sleep-"));
  });
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.stop()));
    await rm(directory, { recursive: true, force: true });
  });

  test("keep their settings and files over a restart, and the next call starts them", async () => {
    const first = await start();
    const made = await clientOf(first).sandboxes.create({
      ...sleeping,
      timeoutSeconds: 60,
      idleTimeoutSeconds: 50,
      metadata: { a: "1" },
    });
    await made.update({ metadata: { b: "2" } });
    await made.files.write("kept", "yes");
    await first.stop();
    const second = await start("--metrics");
    const sandbox = await clientOf(second).sandboxes.get(made.id);
    const { autoStart, expiresAt, idleTimeoutSeconds, metadata, onTimeout, status, stopReason } =
      sandbox.toJSON();
    expect({ autoStart, idleTimeoutSeconds, metadata, onTimeout, status, stopReason }).toEqual({
      autoStart: true,
      idleTimeoutSeconds: 50,
      metadata: { b: "2" },
      onTimeout: "stop",
      status: "stopped",
      stopReason: "shutdown",
    });
    expect(expiresAt?.getTime()).toBeGreaterThan(Date.now() + 6 * 86_400_000);
    expect(await sandbox.files.readText("kept")).toBe("yes");
    await sandbox.update({ idleTimeoutSeconds: 1 });
    await expect.poll(() => statusOf(sandbox), { timeout: 20_000 }).toBe("stopped");
    expect(sandbox.toJSON().stopReason).toBe("idle");
    const metrics = async (): Promise<string> =>
      (await fetch(`${second.url}/metrics`, { headers: { "x-api-key": second.apiKey } })).text();
    // It is counted when the machine is gone, after the sandbox is stopped.
    for (const line of [
      'sleeps_total{reason="idle"} 1',
      'wake_seconds_count{outcome="started"} 1',
      "wake_waiting 0",
    ])
      await expect.poll(metrics).toContain(`\ncloud_sandbox_${line}\n`);
  });

  test("are started by links to their files, whose transfers count as use", async () => {
    await using client = clientOf(await start());
    await using sandbox = await client.sandboxes.create(sleeping);
    await sandbox.files.write("kept", "yes");
    const download = await sandbox.files.downloadUrl("kept");
    const upload = await sandbox.files.uploadUrl("new");
    await sandbox.stop();
    expect(await (await fetch(download)).text()).toBe("yes");
    await sandbox.update({ idleTimeoutSeconds: 1 });
    const slowly = async function* () {
      for (let second = 0; second < 3; second++) {
        yield "a";
        await sleep(1000);
      }
    };
    const sent = await request(upload, { method: "PUT", body: Readable.from(slowly()) });
    expect([sent.statusCode, await sent.body.json()]).toMatchObject([200, {}]);
    await expect.poll(() => statusOf(sandbox), { timeout: 20_000 }).toBe("stopped");
    expect(await sandbox.files.readText("new")).toBe("aaa");
  });

  test("are started by an HTTP request of a preview, and not by its WebSocket", async () => {
    const server = await start();
    await using sandbox = await clientOf(server).sandboxes.create(sleeping);
    await sandbox.stop();
    const path = `/preview/${sandbox.id}/8000/`;
    expect(await upgrade(server, path)).toMatch(/^HTTP\/1.1 409 /);
    expect(await statusOf(sandbox)).toBe("stopped");
    const answer = await fetch(server.url + path);
    expect([answer.ok, await statusOf(sandbox)]).toEqual([false, "running"]);
  });

  test("are deleted at their second deadline", async () => {
    const sandbox = await clientOf(await start("--keep-stopped", "1")).sandboxes.create(sleeping);
    await sandbox.stop();
    await expect
      .poll(() => statusOf(sandbox).catch((error: unknown) => error), { timeout: 20_000 })
      .toMatchObject({
        code: "SANDBOX_EXPIRED",
      });
  });

  test("have a limit, beyond which one goes on, and do not count as running", async () => {
    const client = clientOf(await start("--max-stopped", "1", "--max-sandboxes", "1"));
    const first = await client.sandboxes.create(sleeping);
    await first.stop();
    const second = await client.sandboxes.create(sleeping);
    await expect(second.stop()).rejects.toMatchObject({
      status: 429,
      message: expect.stringContaining("at most 1 stopped"),
    });
    expect(await statusOf(second)).toBe("running");
    await expect(first.start()).rejects.toMatchObject({ status: 429 });
    expect(await statusOf(first)).toBe("stopped");
    await second.delete();
    expect((await first.execute("1")).value).toBe("1");
  });
});

/** The first line of the answer to a request for a WebSocket. */
async function upgrade({ url }: LocalServer, path: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
  );
  for await (const chunk of socket) return String(chunk).split("\r\n")[0] ?? "";
  return "";
}
