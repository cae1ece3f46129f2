import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Sandbox, SandboxClient, type SandboxEvent } from "cloud-sandbox";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { freePort } from "../support/free-port.js";
import { type LocalServer, startLocalServer } from "../support/local-server.js";

let directory: string;
let port: number;
let server: LocalServer | undefined;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "events-"));
  port = await freePort();
});
afterEach(async () => {
  await server?.stop("SIGKILL");
  await rm(directory, { recursive: true, force: true });
});

const start = async (): Promise<void> => {
  server = await startLocalServer({ args: ["--port", String(port), "--pool", "1", "--data-dir", directory] });
};
const connect = (apiKey = "test-key"): SandboxClient =>
  new SandboxClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey });

/** Reads events in the background, until one is of the type. */
function follow(client: SandboxClient, last: SandboxEvent["type"]) {
  const events: SandboxEvent[] = [];
  const done = (async () => {
    for await (const event of client.events({ since: "0" })) {
      events.push(event);
      if (event.type === last) return;
    }
  })();
  return { events, done };
}

describe("events", () => {
  test("are all told once and in order, over kills of the server under load", {
    timeout: 240_000,
  }, async () => {
    await start();
    await using client = connect();
    const { events, done } = follow(client, "key.revoked");
    /** What the server has confirmed. */
    const confirmed = new Map<string, SandboxEvent["type"][]>();
    let isOver = false;
    const work = async (): Promise<void> => {
      while (!isOver) {
        try {
          const { id } = await client.sandboxes.create({ template: "base" });
          const done: SandboxEvent["type"][] = ["sandbox.created"];
          confirmed.set(id, done);
          await client.sandboxes.pause(id);
          done.push("sandbox.paused");
          await client.sandboxes.resume(id);
          done.push("sandbox.resumed");
          const sandbox = await client.sandboxes.get(id);
          await sandbox.commands.run("true");
          done.push("execution.started");
          const job = await sandbox.commands.runBackground("sleep 0.2");
          done.push("execution.started");
          await job.wait();
          await client.sandboxes.delete(id);
          done.push("sandbox.deleted");
        } catch {
          // The server was killed.
        }
      }
    };
    const working = Promise.all([work(), work(), work()]);
    for (const count of [2, 4, 6]) {
      await expect.poll(() => confirmed.size, { timeout: 60_000 }).toBeGreaterThanOrEqual(count);
      await server?.stop("SIGKILL");
      await start();
    }
    isOver = true;
    await working;
    // Nothing is told after this.
    for await (const { id } of client.sandboxes.list()) await client.sandboxes.delete(id);
    await expect
      .poll(
        () => {
          const open = new Set<string>();
          for (const { type, executionId = "" } of events)
            if (type === "execution.started") open.add(executionId);
            else if (type === "execution.ended") open.delete(executionId);
          return [...open];
        },
        { timeout: 30_000 },
      )
      .toEqual([]);
    const { data } = await client.controlPlane.POST("/v1/keys", { body: { name: "last" } });
    await client.controlPlane.DELETE("/v1/keys/{id}", { params: { path: { id: data?.id ?? "" } } });
    await done;

    const sequences = events.map(({ id }) => Number(id.split("-")[1]));
    expect(sequences).toEqual([...new Set(sequences)].sort((one, other) => one - other));
    expect(confirmed.size).toBeGreaterThanOrEqual(6);
    for (const [id, done] of confirmed) {
      const told = events.filter(({ sandboxId }) => sandboxId === id).map(({ type }) => type);
      expect(told[0]).toBe("sandbox.created");
      expect(told.filter((type) => /created|deleted/.test(type)).length).toBeLessThanOrEqual(2);
      // Each confirmed change is among them, in the same order.
      let from = 0;
      for (const type of done) {
        const found = told.indexOf(type, from);
        expect(found, `${type} among ${told.join(" ")}`).toBeGreaterThanOrEqual(from);
        from = found + 1;
      }
    }
  });

  const executions: readonly [string, (client: SandboxClient, sandbox: Sandbox) => Promise<unknown>][] = [
    ["a command", (_, sandbox) => sandbox.commands.run("true")],
    ["code", (_, sandbox) => sandbox.execute("1", { language: "bash" })],
    [
      "code that is refused",
      (_, sandbox) => sandbox.execute("1", { context: "none" }).catch(() => undefined),
    ],
    [
      "a stream",
      (_, sandbox) => sandbox.executeStream("echo", { language: "bash" })[Symbol.asyncIterator]().next(),
    ],
    ["a command in the background", (_, sandbox) => sandbox.commands.runBackground("sleep 10")],
    ["a program without a sandbox", (client) => client.executeIsolated("echo", { language: "bash" })],
  ];
  test("of executions whose answer a caller has are kept when the server is killed at that moment", {
    timeout: 120_000,
  }, async () => {
    await start();
    await using client = connect();
    let last = "0";
    for (const [what, execute] of executions) {
      const sandbox = await client.sandboxes.create({ template: "base" });
      await execute(client, sandbox);
      await server?.stop("SIGKILL");
      await start();
      const told: string[] = [];
      for await (const { id, type } of client.events({ since: last })) {
        last = id;
        told.push(type);
        if (type === "sandbox.failed") break;
      }
      expect(told, what).toContain("execution.started");
    }
  });

  test("are those of the key's own sandboxes; the server's own key sees all", async () => {
    await start();
    await using owner = connect();
    const key = async (name: string): Promise<string> => {
      const { data } = await owner.controlPlane.POST("/v1/keys", { body: { name } });
      return data?.key ?? "";
    };
    await using one = connect(await key("one"));
    await using other = connect(await key("other"));
    const mine = await one.sandboxes.create({ template: "base" });
    const theirs = await other.sandboxes.create({ template: "base" });
    await mine.delete();
    await theirs.delete();
    const last = follow(one, "sandbox.deleted");
    await last.done;
    expect(last.events.map(({ type, sandboxId }) => [type, sandboxId])).toEqual([
      ["sandbox.created", mine.id],
      ["sandbox.deleted", mine.id],
    ]);
    await expect(one.events({ sandbox: theirs.id }).next()).rejects.toMatchObject({
      code: "SANDBOX_NOT_FOUND",
    });
    const all = owner.events({ since: "0", types: ["sandbox.deleted"] });
    expect([(await all.next()).value?.sandboxId, (await all.next()).value?.sandboxId]).toEqual([
      mine.id,
      theirs.id,
    ]);
    await all.return();
  });

  test("tell the metrics of a sandbox that somebody looks at, and why one failed", async () => {
    await start();
    await using client = connect();
    const sandbox = await client.sandboxes.create({ template: "base" });
    const metrics = client.events({ sandbox: sandbox.id, types: ["sandbox.metrics"] });
    expect((await metrics.next()).value).toMatchObject({
      id: "",
      metrics: { uptime_seconds: expect.any(Number) },
    });
    await metrics.return();
    await server?.stop("SIGKILL");
    await start();
    const failed = client.events({ since: "0", sandbox: sandbox.id, types: ["sandbox.failed"] });
    expect((await failed.next()).value?.reason).toMatch(/control plane ended/);
    await failed.return();
  });

  test("of builds tell how they ended, to the server's own key", async () => {
    await start();
    await using client = connect();
    const body = {
      name: "told",
      from_image: "base",
      steps: [{ type: "RUN", args: ["exit 4"] }],
      cpu: 1,
      memory: 512,
      diskGB: 1,
    };
    await client.controlPlane.POST("/v1/templates/build", { body } as never);
    const builds = client.events({ since: "0", types: ["build.started", "build.ended"] });
    const { value: started } = await builds.next();
    expect(started).toMatchObject({ type: "build.started", name: "told" });
    expect((await builds.next()).value).toMatchObject({ buildId: started?.buildId, outcome: "failed" });
    await builds.return();
  });
});
