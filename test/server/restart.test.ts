import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runBuilt } from "../support/built-program.js";
import { ControlPlaneCaller } from "../support/control-plane-caller.js";
import { type LocalServer, startLocalServer } from "../support/local-server.js";

let directory: string;
let server: LocalServer;
let api: ControlPlaneCaller;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "restart-"));
  await start();
});
afterEach(async () => {
  await server.stop();
  await rm(directory, { recursive: true });
});

async function start(): Promise<void> {
  server = await startLocalServer({ args: ["--pool", "0", "--data-dir", directory] });
  api = new ControlPlaneCaller(server);
}

async function restart(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
  await server.stop(signal);
  await start();
}

describe("a server that was asked to stop", () => {
  test("has stopped its sandboxes, which can be started with their files and their tokens", async () => {
    const [running, paused] = await Promise.all([
      api.create({ name: "mine", metadata: { owner: "me" }, env_vars: { API_TOKEN: "abc" } }),
      api.create(),
    ]);
    for (const sandbox of [running, paused]) await api.run(sandbox, "echo kept > /workspace/a");
    await api.call("POST", `/sandboxes/${paused.id}/pause`);
    await restart("SIGTERM");
    expect((await api.call("GET", `/sandboxes/${running.id}`)).body).toMatchObject({
      status: "stopped",
      name: "mine",
      metadata: { owner: "me" },
      expires_at: running.expires_at,
    });
    for (const sandbox of [running, paused]) {
      expect(await api.told("POST", `/sandboxes/${sandbox.id}/start`)).toBe("200 running");
      const { body } = await api.run(sandbox, "cat /workspace/a; echo $API_TOKEN");
      expect(body.stdout).toBe(sandbox === running ? "kept\nabc\n" : "kept\n\n");
    }
  });
});

describe("a server that was killed", () => {
  test("knows its sandboxes: those that ran are lost and say so, stopped ones are unchanged", async () => {
    const [running, stopped, deleted] = await Promise.all([api.create(), api.create(), api.create()]);
    await api.run(stopped, "echo kept > /workspace/a");
    await api.call("POST", `/sandboxes/${stopped.id}/stop`);
    await api.call("DELETE", `/sandboxes/${deleted.id}`);
    await restart("SIGKILL");
    expect((await api.call("GET", `/sandboxes/${running.id}`)).body).toMatchObject({
      status: "error",
      failure_reason: expect.stringContaining("ended while"),
    });
    expect((await api.run(running, "true")).body.code).toBe("SANDBOX_FAILED");
    expect(await api.told("GET", `/sandboxes/${deleted.id}`)).toBe("404 SANDBOX_NOT_FOUND");
    expect(await api.told("POST", `/sandboxes/${stopped.id}/start`)).toBe("200 running");
    expect((await api.run(stopped, "cat /workspace/a")).body.stdout).toBe("kept\n");
    expect(await api.told("DELETE", `/sandboxes/${running.id}`)).toBe("200 deleted");
    expect(await readdir(join(directory, "files"))).toEqual([]);
  });

  test("still ends sandboxes at their deadlines", async () => {
    const [past, near] = [
      await api.create({ timeout_seconds: 1 }),
      await api.create({ timeout_seconds: 300 }),
    ];
    await server.stop("SIGKILL");
    await expect.poll(() => Date.now()).toBeGreaterThan(Date.parse(past.expires_at));
    await start();
    expect(await api.told("GET", `/sandboxes/${past.id}`)).toBe("410 SANDBOX_EXPIRED");
    expect((await api.call("GET", `/sandboxes/${near.id}`)).body.expires_at).toBe(near.expires_at);
    await api.call("PUT", `/sandboxes/${near.id}/timeout`, { timeout_seconds: 1 });
    await restart("SIGKILL");
    await expect.poll(() => api.told("GET", `/sandboxes/${near.id}`)).toBe("410 SANDBOX_EXPIRED");
  });

  test("knows the idempotency keys of creates; the key of a lost sandbox creates a new one", async () => {
    const create = async (): Promise<unknown> => {
      const headers = { "Idempotency-Key": "once" };
      return (await api.call("POST", "/sandboxes", { template_name: "base" }, headers)).body.id;
    };
    const first = await create();
    expect(await create()).toBe(first);
    await api.call("POST", `/sandboxes/${first}/stop`);
    await restart("SIGKILL");
    expect(await create()).toBe(first);
    await api.call("POST", `/sandboxes/${first}/start`);
    await restart("SIGKILL");
    expect(await create()).not.toBe(first);
  });
});

test("a sandbox whose files cannot be kept goes on with them, and can be stopped later", async () => {
  const sandbox = await api.create();
  await api.run(sandbox, "echo kept > /workspace/a");
  const inTheWay = join(directory, "files", `${sandbox.id}.disk.partial`);
  await mkdir(inTheWay, { recursive: true });
  expect(await api.told("POST", `/sandboxes/${sandbox.id}/stop`)).toBe("409 CONFLICT");
  expect((await api.run(sandbox, "cat /workspace/a")).body.stdout).toBe("kept\n");
  await rm(inTheWay, { recursive: true });
  expect(await api.told("POST", `/sandboxes/${sandbox.id}/stop`)).toBe("200 stopped");
});

test("a server without waiting machines removes what a dead one left, before it has a sandbox", async () => {
  const left = join(tmpdir(), "cloud-sandbox-999999999-1-left");
  await mkdir(left);
  await restart("SIGTERM");
  await expect.poll(() => existsSync(left)).toBe(false);
});

test("a data directory belongs to one server: a second server is refused with one sentence", async () => {
  const second = await runBuilt("local", ["serve", "--data-dir", directory]);
  expect(second).toEqual({
    code: 1,
    stdout: "",
    stderr: `cloud-sandbox-local: The data directory ${directory} is in use by process ${server.pid}. Stop that process, or choose another directory with --data-dir.\n`,
  });
});

test("without a key of its own the server keeps the one it made up, and tells it to nobody's log", async () => {
  const own = await mkdtemp(join(tmpdir(), "restart-"));
  const env = { CLOUD_SANDBOX_API_KEY: "" };
  const first = await startLocalServer({ apiKey: null, env, args: ["--pool", "0", "--data-dir", own] });
  const { body } = await new ControlPlaneCaller(first).call("POST", "/sandboxes", { template_name: "base" });
  await first.stop();
  const second = await startLocalServer({ apiKey: null, env, args: ["--pool", "0", "--data-dir", own] });
  expect(second.apiKey).toBe(first.apiKey);
  expect(first.apiKey).toMatch(/^[\w-]{32}$/);
  expect(await new ControlPlaneCaller(second).told("GET", `/sandboxes/${body.id}`)).toBe("200 stopped");
  await second.stop();
  expect(first.log() + second.log()).not.toContain(first.apiKey);
  await rm(own, { recursive: true });
});
