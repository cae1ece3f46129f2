import { type Sandbox, SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cannotStartAs, type LocalServer, startLocalServer } from "../support/local-server.js";

const memoryMb = 600;
const diskMb = 300;

describe.each(["root", "an ordinary user"] as const)(
  "a sandbox's metrics, on a server started by %s",
  (who) => {
    const obstacle = cannotStartAs(who);
    let server: LocalServer | undefined;
    let client: SandboxClient | undefined;
    let sandbox: Sandbox;

    beforeAll(async () => {
      if (obstacle !== undefined) return;
      const args = ["--pool", "0", "--memory-mb", String(memoryMb), "--disk-mb", String(diskMb)];
      server = await startLocalServer({ who, args });
      client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
      sandbox = await client.sandboxes.create({ template: "base" });
    });
    afterAll(async () => {
      await client?.close();
      await server?.stop();
    });

    async function system() {
      const { data } = await sandbox.agent.GET("/metrics/snapshot");
      const { cpu, memory, disk } = data?.system ?? {};
      return {
        cpu: cpu?.usage_percent ?? Number.NaN,
        memory: memory?.used_mb ?? Number.NaN,
        memoryTotal: memory?.total_mb,
        disk: disk?.used_mb ?? Number.NaN,
        diskTotal: disk?.total_mb,
      };
    }
    async function background(command: string): Promise<() => Promise<unknown>> {
      const { data } = await sandbox.agent.POST("/commands/background", { body: { command } });
      const query = { process_id: data?.process_id ?? "" };
      return () => sandbox.agent.DELETE("/execute/kill", { params: { query } });
    }

    test("count its files as disk, not as memory", async ({ skip }) => {
      skip(obstacle !== undefined, obstacle);
      const before = await system();
      expect(before).toMatchObject({ memoryTotal: memoryMb, diskTotal: diskMb });
      await sandbox.execute("head -c 100M /dev/zero > /workspace/file", { language: "bash" });
      const after = await system();
      expect(after.disk - before.disk).toBeGreaterThanOrEqual(100);
      expect(after.disk - before.disk).toBeLessThan(110);
      expect(after.memory - before.memory).toBeLessThan(50);
      await sandbox.files.remove("/workspace/file");
    });

    test("count what its programs use as memory, until they end", async ({ skip }) => {
      skip(obstacle !== undefined, obstacle);
      const before = await system();
      const used = async () => (await system()).memory - before.memory;
      const end = await background(`python3 -c "kept = b'x' * (200 << 20); import time; time.sleep(60)"`);
      await expect.poll(used).toBeGreaterThan(180);
      expect(await used()).toBeLessThan(280);
      await end();
      await expect.poll(used).toBeLessThan(50);
    });

    test("tell the load that it makes, and not the machine's", async ({ skip }) => {
      skip(obstacle !== undefined, obstacle);
      const load = async () => (await system()).cpu;
      const end = await background("while :; do :; done & while :; do :; done");
      // Expect little: two busy loops get only a small part of a machine that has much other work.
      await expect.poll(load, { interval: 300 }).toBeGreaterThan(5);
      const told = async () => (await sandbox.agent.GET("/system")).data?.cpu_percent;
      await expect.poll(told, { interval: 300 }).toBeGreaterThan(3);
      await end();
      await expect.poll(load, { interval: 300 }).toBeLessThan(3);
    });
  },
);
