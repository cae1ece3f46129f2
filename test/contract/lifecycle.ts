import { setTimeout as sleep } from "node:timers/promises";
import type { SandboxClient } from "cloud-sandbox";
import { describe, expect, test } from "vitest";
import { processCount } from "../support/process-count.js";
import { sandboxIds } from "../support/sandbox-ids.js";

/** What every backend must do with sandboxes over time, as users of the client see it. */
export function lifecycleSuite(client: () => SandboxClient, pauses: boolean): void {
  describe("a sandbox", () => {
    test("of a name is made once, and found by its name and labels", async () => {
      const metadata = { owner: "a & b", stage: "test" };
      const first = await client().sandboxes.getOrCreate("shared", { template: "base", metadata });
      await first.files.write("kept", "yes");
      // A paused one is found too, and resumed.
      if (pauses) await first.pause();
      const second = await client().sandboxes.getOrCreate("shared", { template: "base" });
      expect(second.id).toBe(first.id);
      expect(await second.files.readText("kept")).toBe("yes");
      await using other = await client().sandboxes.create({ template: "base", metadata: { stage: "test" } });
      expect(await sandboxIds(client(), { name: "shared" })).toEqual([first.id]);
      expect(await sandboxIds(client(), { metadata: { owner: "a & b" } })).toEqual([first.id]);
      expect((await sandboxIds(client(), { metadata: { stage: "test" }, limit: 1 })).sort()).toEqual(
        [first.id, other.id].sort(),
      );
      await expect(
        client().sandboxes.getOrCreate("shared", { template: "code-interpreter" }),
      ).rejects.toMatchObject({ code: "CONFLICT", message: expect.stringContaining("template base") });
      await first.delete();
      await first.delete();
      expect(await sandboxIds(client(), { name: "shared" })).toEqual([]);
    });

    if (pauses)
      test("does not count the time of a pause as run time", { timeout: 60_000 }, async () => {
        await using sandbox = await client().sandboxes.create({ template: "base" });
        const job = await sandbox.commands.runBackground("sleep 3; echo end", { timeoutSeconds: 5 });
        const running = async (): Promise<string> =>
          (await sandbox.execute(processCount("sleep 3"), { language: "bash" })).stdout;
        await expect.poll(running).toBe("1\n");
        await sandbox.pause();
        await sleep(7000);
        await sandbox.resume();
        const { exitCode, stdout } = await job.result();
        expect([exitCode, stdout]).toEqual([0, "end\n"]);
      });

    test("that is stopped is started only when that is asked for", async () => {
      await using sandbox = await client().sandboxes.create({ template: "base" });
      await sandbox.files.write("kept", "yes");
      await sandbox.stop();
      await expect(client().sandboxes.connect(sandbox.id)).rejects.toMatchObject({
        code: "SANDBOX_NOT_RUNNING",
      });
      const started = await client().sandboxes.connect(sandbox.id, { start: true });
      expect(await started.files.readText("kept")).toBe("yes");
    });

    test("is gone at the end of its scope", async () => {
      let id = "";
      {
        await using sandbox = await client().sandboxes.create({ template: "base" });
        id = sandbox.id;
      }
      expect(await sandboxIds(client())).not.toContain(id);
    });

    test("lives on while it is used, and is let go once it is not", async () => {
      await using sandbox = await client().sandboxes.create({ template: "base", timeoutSeconds: 30 });
      const before = sandbox.expiresAt?.getTime() ?? 0;
      using kept = sandbox.keepAlive({ seconds: 60 });
      await expect.poll(() => sandbox.expiresAt?.getTime()).toBeGreaterThan(before + 15_000);
      using brief = sandbox.keepAlive({ seconds: 10, maxSeconds: 0.1 });
      expect(await brief.ended).toBe("maximum");
      kept.stop();
      expect(await kept.ended).toBe("stopped");
    });

    test("that somebody deletes is kept no longer", async () => {
      const sandbox = await client().sandboxes.create({ template: "base", timeoutSeconds: 45 });
      await sandbox.delete();
      expect(await sandbox.keepAlive({ seconds: 60 }).ended).toBe("gone");
    });

    test("tells before it ends, by the deadline that it has then", async () => {
      await using sandbox = await client().sandboxes.create({ template: "base", timeoutSeconds: 30 });
      const elsewhere = await client().sandboxes.get(sandbox.id);
      const calls: number[] = [];
      const leave = sandbox.onExpiring(
        async ({ expiresAt }) => {
          calls.push(expiresAt?.getTime() ?? 0);
          if (calls.length === 1) await elsewhere.setTimeout(32);
          if (calls.length === 1) await sandbox.refresh();
        },
        { leadSeconds: 30.5 },
      );
      await expect.poll(() => calls.length).toBe(2);
      expect(calls[1]).toBeGreaterThan(calls[0] ?? 0);
      leave();
    });

    test("shows its metrics as they change, and as Prometheus reads them", async () => {
      await using sandbox = await client().sandboxes.create({ template: "base" });
      let seen = 0;
      for await (const { uptimeSeconds } of sandbox.metrics.stream()) {
        expect(uptimeSeconds).toBeGreaterThanOrEqual(0);
        if (++seen === 2) break;
      }
      expect(seen).toBe(2);
      expect(await sandbox.metrics.prometheus()).toContain("hopx_agent_");
    });

    test("says what it is", async () => {
      await using sandbox = await client().sandboxes.create();
      await sandbox.execute("x = 1");
      expect(await sandbox.system.machine()).toMatchObject({ os: expect.any(Object) });
      expect(await sandbox.contexts.list()).toMatchObject([{ language: "python" }]);
      expect(await sandbox.system.cacheStatistics()).toMatchObject({ size: expect.any(Number) });
      expect(await sandbox.system.clearCache()).toBe(0);
      await expect(sandbox.desktop.screenshot()).rejects.toMatchObject({ code: "DESKTOP_NOT_AVAILABLE" });
    });
  });
}
