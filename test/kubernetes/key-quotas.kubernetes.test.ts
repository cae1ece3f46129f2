import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runBuilt } from "../support/built-program.js";
import { codeBlocks } from "../support/documents/code-blocks.js";
import {
  kubectl,
  startKubernetesServer,
  withoutKubernetes,
} from "../support/kubernetes/kubernetes-server.js";
import type { LocalServer } from "../support/local-server.js";

/** The guide's PriorityClass and ResourceQuota. */
const manifest = codeBlocks().find(({ code }) => code.includes("kind: PriorityClass"))?.code ?? "";
const name = "cloud-sandbox-team-a";

const obstacle = withoutKubernetes();
if (obstacle !== undefined) test("the quota of a key", ({ skip }) => skip(obstacle));
else
  describe("the quota of a key", () => {
    let directory: string;
    let file: string;
    let server: LocalServer;
    let clients: SandboxClient[] = [];
    const start = async (): Promise<void> => {
      server = await startKubernetesServer({ args: ["--pool", "1", "--data-dir", join(directory, "data")] });
    };
    const clientOf = (apiKey = server.apiKey): SandboxClient => {
      const client = new SandboxClient({ baseUrl: server.url, apiKey });
      clients.push(client);
      return client;
    };
    const stop = async (): Promise<void> => {
      await Promise.all(clients.map((client) => client.close()));
      clients = [];
      await server?.stop();
    };
    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), "key-quotas-"));
      file = join(directory, "quota.yaml");
      await writeFile(file, manifest.replace('pods: "20"', 'pods: "1"'));
      await kubectl("apply", "--filename", file);
      await start();
    });
    afterAll(async () => {
      await stop();
      await kubectl("delete", "--filename", file);
      await rm(directory, { recursive: true });
    });

    test("is held by the cluster, also after a restart, and does not limit another key", async () => {
      const { controlPlane } = clientOf();
      const made = async (body: { name: string; priority_class?: string }) =>
        (await controlPlane.POST("/v1/keys", { body })).data;
      const limited = await made({ name: "team-a", priority_class: name });
      expect(limited).toMatchObject({ priority_class: name });
      const other = await made({ name: "team-b" });
      let teamA = clientOf(limited?.key);
      const sandbox = await teamA.sandboxes.create({ template: "base" });
      const refused = {
        status: 503,
        message: expect.stringMatching(
          // "cloud-sandbox-local doctor" knows nothing of the cluster.
          /^(?!.*doctor).*exceeded quota: cloud-sandbox-team-a, requested: pods=1, used: pods=1/,
        ),
      };
      await expect(teamA.sandboxes.create({ template: "base" })).rejects.toMatchObject(refused);
      await expect(teamA.executeIsolated("print(6 * 7)")).rejects.toMatchObject(refused);
      const others = await clientOf(other?.key).sandboxes.create({ template: "base" });
      expect((await others.execute("print(6 * 7)")).stdout).toBe("42\n");
      await others.delete();
      expect(await limitedPods()).toHaveLength(1);

      await stop();
      await start();
      teamA = clientOf(limited?.key);
      const same = await teamA.sandboxes.get(sandbox.id);
      expect(same.status).toBe("stopped");
      // The cluster counts the Pod that has ended for a moment longer.
      const started = () => teamA.sandboxes.start(sandbox.id).then(() => "started", String);
      await expect.poll(started).toBe("started");
      expect(await limitedPods()).toHaveLength(1);
      await expect(teamA.sandboxes.create({ template: "base" })).rejects.toMatchObject(refused);
      await teamA.sandboxes.delete(sandbox.id);
    });

    test("needs a class that the cluster has for sandboxes", async () => {
      const { controlPlane } = clientOf();
      const made = (priority_class: string) =>
        controlPlane.POST("/v1/keys", { body: { name: priority_class, priority_class } });
      const refused = async (priorityClass: string) => (await made(priorityClass)).error;
      expect(await refused("missing")).toMatchObject({
        code: "INVALID_REQUEST",
        message: expect.stringContaining("no PriorityClass with name missing was found"),
      });
      expect(await refused("system-node-critical")).toMatchObject({
        code: "INVALID_REQUEST",
        message: expect.stringContaining("for the cluster's own Pods"),
      });
      // A quota that is full now has room later.
      await kubectl("patch", "quota", name, "--patch", '{"spec":{"hard":{"pods":"0"}}}');
      expect(await made(name)).toMatchObject({ data: { priority_class: name } });
    });

    test("is of a class that a list of keys shows", async () => {
      await clientOf().controlPlane.POST("/v1/keys", { body: { name: "team-c", priority_class: name } });
      const env = { CLOUD_SANDBOX_API_KEY: server.apiKey, CLOUD_SANDBOX_BASE_URL: server.url };
      const { stdout } = await runBuilt("cli", ["keys", "list"], { env });
      expect(stdout).toMatch(/^NAME .* PRIORITY CLASS\nteam-c .* cloud-sandbox-team-a\n/);
    });
  });

async function limitedPods(): Promise<string[]> {
  const path = `jsonpath={.items[?(@.spec.priorityClassName=="${name}")].metadata.name}`;
  return (await kubectl("get", "pods", "--output", path)).split(" ").filter((pod) => pod !== "");
}
