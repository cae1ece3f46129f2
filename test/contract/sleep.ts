import { ConflictError, type Sandbox, type SandboxClient } from "cloud-sandbox";
import { describe, expect, test } from "vitest";
import type { Backend } from "./backends/backend.js";

/** What every backend must do with sandboxes that sleep, as users of the client see it. `cycles`: how often one is stopped. */
export function sleepSuite(backend: () => Backend, pauses: boolean, cycles: number): void {
  const client = (): SandboxClient => backend().client;
  const sleeping = { template: "base", autoStart: true, onTimeout: "stop" } as const;
  const statusOf = async (sandbox: Sandbox): Promise<string> => (await sandbox.refresh()).status;

  describe("a sandbox that sleeps", () => {
    test("is stopped at its deadline, kept, and started by the next call, with its whole lifetime before it", async () => {
      await using sandbox = await client().sandboxes.create({ ...sleeping, timeoutSeconds: 300 });
      await sandbox.files.write("kept", "yes");
      await sandbox.setTimeout(1);
      await expect.poll(() => statusOf(sandbox), { timeout: 20_000 }).toBe("stopped");
      expect(sandbox.toJSON()).toMatchObject({ stopReason: "timeout", timeoutSeconds: 1 });
      expect(sandbox.expiresAt?.getTime()).toBeGreaterThan(Date.now() + 200_000);
      await sandbox.setTimeout(300);
      expect(await statusOf(sandbox)).toBe("stopped");
      expect(await sandbox.files.readText("kept")).toBe("yes");
      expect(await statusOf(sandbox)).toBe("running");
      expect(sandbox.toJSON().stopReason).toBeUndefined();
      expect(sandbox.expiresAt?.getTime()).toBeLessThan(Date.now() + 301_000);
    });

    test(`keeps every file over ${cycles} stops, by a call and for idle time in turns`, async () => {
      await using sandbox = await client().sandboxes.create(sleeping);
      const written: string[] = [];
      for (let cycle = 0; cycle < cycles; cycle++) {
        await sandbox.files.write(`/workspace/${cycle}/file`, `of cycle ${cycle}`);
        written.push(`of cycle ${cycle}`);
        const isIdle = cycle % 2 === 1;
        if (isIdle) await sandbox.update({ idleTimeoutSeconds: 1 });
        else await sandbox.stop();
        await expect.poll(() => statusOf(sandbox), { timeout: 20_000 }).toBe("stopped");
        expect(sandbox.toJSON().stopReason).toBe(isIdle ? "idle" : "requested");
        await sandbox.update({ idleTimeoutSeconds: 0 });
        const files = Array.from({ length: cycle + 1 }, (_, index) =>
          sandbox.files.readText(`/workspace/${index}/file`),
        );
        expect(await Promise.all(files)).toEqual(written);
      }
    }, 300_000);

    test("does not sleep while it is used or works, and does when it is only looked at", async () => {
      await using sandbox = await client().sandboxes.create({ ...sleeping, idleTimeoutSeconds: 1 });
      expect((await sandbox.execute("sleep 3", { language: "bash" })).exitCode).toBe(0);
      await sandbox.executeBackground("sleep 3; echo end > /workspace/end", { language: "bash" });
      const looked = async (): Promise<string> => {
        await sandbox.metrics.snapshot().catch(() => undefined);
        return statusOf(sandbox);
      };
      await expect.poll(looked, { timeout: 20_000 }).toBe("stopped");
      expect(await sandbox.files.readText("/workspace/end")).toBe("end\n");
    });

    test("starts once for all that wait, and for nobody without a valid token", async () => {
      await using sandbox = await client().sandboxes.create(sleeping);
      await sandbox.files.write("kept", "yes");
      await sandbox.stop();
      const read = (headers: Record<string, string>): Promise<Response> =>
        backend().fetch(`${sandbox.publicHost}/files/read?path=kept`, { headers });
      await using other = await client().sandboxes.create({ template: "base" });
      const token = await tokenOf(backend(), other.id);
      for (const headers of [{}, { authorization: "Bearer none" }, { authorization: `Bearer ${token}` }])
        expect((await read(headers as Record<string, string>)).status).toBe(401);
      expect(await statusOf(sandbox)).toBe("stopped");
      const answers = await Promise.all(Array.from({ length: 20 }, () => sandbox.files.readText("kept")));
      expect(new Set(answers)).toEqual(new Set(["yes"]));
    });

    test("is not started by calls unless that was asked for", async () => {
      await using sandbox = await client().sandboxes.create({ template: "base" });
      await sandbox.stop();
      await expect(sandbox.execute("1")).rejects.toThrow(ConflictError);
      expect(await statusOf(sandbox)).toBe("stopped");
      expect(sandbox.toJSON()).toMatchObject({
        stopReason: "requested",
        autoStart: false,
        onTimeout: "delete",
      });
    });

    if (pauses)
      test("that is paused at its idle time keeps its variables", async () => {
        await using sandbox = await client().sandboxes.create({
          template: "base",
          autoStart: true,
          onTimeout: "pause",
        });
        await sandbox.execute("x = 1");
        await sandbox.update({ idleTimeoutSeconds: 1 });
        await expect.poll(() => statusOf(sandbox), { timeout: 20_000 }).toBe("paused");
        expect(sandbox.toJSON().stopReason).toBe("idle");
        expect((await sandbox.execute("x")).value).toBe("1");
        expect(await statusOf(sandbox)).toBe("running");
      });

    test("has the deadline of its settings, also of those that it gets while it sleeps", async () => {
      await using sandbox = await client().sandboxes.create({ template: "base", timeoutSeconds: 300 });
      const secondsLeft = async (): Promise<number> => {
        const { expiresAt } = await sandbox.refresh();
        return ((expiresAt?.getTime() ?? 0) - Date.now()) / 1000;
      };
      await sandbox.update({ onTimeout: "stop" });
      expect(await secondsLeft()).toBeLessThan(301);
      await sandbox.update({ onTimeout: "delete" });
      await sandbox.stop();
      expect(await secondsLeft()).toBeLessThan(301);
      await sandbox.update({ onTimeout: "stop" });
      expect(await secondsLeft()).toBeGreaterThan(1000);
      await sandbox.update({ onTimeout: "delete" });
      expect(await secondsLeft()).toBeLessThan(301);
    });

    test("changes its labels and settings", async () => {
      await using sandbox = await client().sandboxes.create({
        template: "base",
        metadata: { a: "1", b: "2" },
      });
      await sandbox.update({ metadata: { b: "3" }, onTimeout: "stop" });
      await sandbox.refresh();
      expect(sandbox.metadata).toEqual({ b: "3" });
      expect(sandbox.toJSON()).toMatchObject({ onTimeout: "stop", idleTimeoutSeconds: undefined });
    });
  });
}

/** A token for the agent of a sandbox. */
async function tokenOf({ client }: Backend, id: string): Promise<string | undefined> {
  const params = { path: { id } };
  return (await client.controlPlane.POST("/v1/sandboxes/{id}/token/refresh", { params })).data?.auth_token;
}
