import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ControlPlaneCaller, type CreatedSandbox } from "../support/control-plane-caller.js";
import { type LocalServer, startLocalServer } from "../support/local-server.js";
import { SmallDirectory } from "../support/small-directory.js";

describe("a server whose data directory is full", { tags: ["mount"] }, () => {
  let disk: SmallDirectory;
  let server: LocalServer;
  let api: ControlPlaneCaller;
  let isEnded: boolean;

  beforeEach(async () => {
    disk = new SmallDirectory(4);
    await start();
  });
  afterEach(async () => {
    if (!isEnded) await server.stop("SIGKILL");
    disk[Symbol.dispose]();
  });

  async function start(): Promise<void> {
    server = await startLocalServer({ args: ["--pool", "0", "--disk-mb", "64", "--data-dir", disk.data] });
    api = new ControlPlaneCaller(server);
    isEnded = false;
  }

  async function end(signal: NodeJS.Signals) {
    isEnded = true;
    return server.stop(signal);
  }

  const step = (sandbox: CreatedSandbox, verb: string): Promise<string> =>
    api.told("POST", `/sandboxes/${sandbox.id}/${verb}`);
  const state = async ({ id }: CreatedSandbox): Promise<unknown> => api.told("GET", `/sandboxes/${id}`);
  const health = async (): Promise<Record<string, unknown>> =>
    (await (await fetch(`${server.url}/health`)).json()) as Record<string, unknown>;

  test("refuses with 507 what it cannot keep and changes nothing, and works again when there is room", async () => {
    const [running, paused, stopped] = await Promise.all([api.create(), api.create(), api.create()]);
    await api.run(stopped, "echo kept > /workspace/a");
    expect(await step(paused, "pause")).toBe("200 paused");
    expect(await step(stopped, "stop")).toBe("200 stopped");
    expect(await health()).toMatchObject({ status: "healthy", storage: "ok" });

    disk.fill();
    const full = "507 STORAGE_FULL";
    const refused = await api.call("POST", "/sandboxes", { template_name: "base" });
    expect([refused.status, refused.body.code, refused.body.hint]).toEqual([
      507,
      "STORAGE_FULL",
      expect.stringContaining("Free some disk space"),
    ]);
    expect(await step(running, "pause")).toBe(full);
    expect(await step(running, "stop")).toBe(full);
    expect(await step(paused, "resume")).toBe(full);
    expect(await step(stopped, "start")).toBe(full);
    const moved = await api.told("PUT", `/sandboxes/${running.id}/timeout`, { timeout_seconds: 5 });
    expect(moved).toBe(full);
    expect([await state(running), await state(paused), await state(stopped)]).toEqual([
      "200 running",
      "200 paused",
      "200 stopped",
    ]);
    expect((await api.call("GET", `/sandboxes/${running.id}`)).body.expires_at).toBe(running.expires_at);
    expect((await api.run(running, "echo works")).body.stdout).toBe("works\n");
    expect(await health()).toMatchObject({
      status: "degraded",
      storage: "full",
      message: expect.stringContaining("Free some disk space"),
    });

    disk.free();
    await expect.poll(health).toMatchObject({ status: "healthy", storage: "ok" });
    expect(await step(paused, "resume")).toBe("200 running");
    expect(await step(running, "stop")).toBe("200 stopped");
    expect(await step(stopped, "start")).toBe("200 running");
    expect((await api.run(stopped, "cat /workspace/a")).body.stdout).toBe("kept\n");
    expect(server.log()).not.toContain("    at ");
  });

  test("ends deleted and expired sandboxes at once, and stores that as soon as there is room", async () => {
    const [running, paused, stopped] = await Promise.all([api.create(), api.create(), api.create()]);
    await step(paused, "pause");
    await step(stopped, "stop");
    const expiring = await api.create({ timeout_seconds: 3 });
    disk.fill();
    // Delete two sandboxes at once and others later: a delete that cannot be stored must not make the next one fail.
    const deletes = [running, paused].map(({ id }) => api.told("DELETE", `/sandboxes/${id}`));
    expect(await Promise.all(deletes)).toEqual(["200 deleted", "200 deleted"]);
    expect(await state(running)).toBe("404 SANDBOX_NOT_FOUND");
    await expect.poll(() => state(expiring)).toBe("410 SANDBOX_EXPIRED");
    disk.fill();
    expect(await api.told("DELETE", `/sandboxes/${stopped.id}`)).toBe("200 deleted");
    disk.free();
    await expect.poll(health).toMatchObject({ storage: "ok" });
    await end("SIGKILL");
    await start();
    for (const sandbox of [running, paused, stopped])
      expect(await state(sandbox)).toBe("404 SANDBOX_NOT_FOUND");
    expect(await state(expiring)).toBe("410 SANDBOX_EXPIRED");
  });

  test("that is killed after a start that it could not store has the unchanged files of the last stop", async () => {
    const sandbox = await api.create();
    await api.run(sandbox, "echo first > /workspace/a");
    await step(sandbox, "stop");
    disk.fill();
    expect(await step(sandbox, "start")).toBe("507 STORAGE_FULL");
    expect((await api.run(sandbox, "echo second > /workspace/a")).body.code).toBe("SANDBOX_STOPPED");
    await end("SIGKILL");
    disk.free();
    await start();
    expect(await step(sandbox, "start")).toBe("200 running");
    expect((await api.run(sandbox, "cat /workspace/a")).body.stdout).toBe("first\n");
  });

  test("ends when it is asked to, and says by its exit code and in a line what could not be kept", async () => {
    const [running, stopped] = await Promise.all([api.create(), api.create()]);
    await step(stopped, "stop");
    disk.fill();
    expect(await end("SIGTERM")).toEqual({ code: 2, signal: null });
    expect(server.log()).toMatch(/the files of 1 sandboxes are lost.* Free some disk space there/);
    expect(server.log()).not.toContain("    at ");
    disk.free();
    await start();
    expect(await state(stopped)).toBe("200 stopped");
    expect(await state(running)).toBe("200 error");
    expect(await end("SIGTERM")).toEqual({ code: 0, signal: null });
  });
});
