import { SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadImageWithAgent } from "../support/kubernetes/image-with-agent.js";
import {
  kubectl,
  ownCluster,
  startKubernetesServer,
  withoutKubernetes,
} from "../support/kubernetes/kubernetes-server.js";
import type { LocalServer } from "../support/local-server.js";

const obstacle = withoutKubernetes();
if (obstacle !== undefined) test("an image with the agent", ({ skip }) => skip(obstacle));
else
  describe("an image that has the agent", () => {
    const { directory, image: without } = ownCluster();
    let image: string;
    let server: LocalServer;
    let client: SandboxClient;
    const initContainers = (): Promise<string> =>
      kubectl("get", "pods", "--output", "jsonpath={.items[*].spec.initContainers[*].image}");

    beforeAll(async () => {
      image = await loadImageWithAgent(directory);
      const args = ["--kubernetes-image", image, "--kubernetes-agent-image", image, "--pool", "0"];
      server = await startKubernetesServer({ args: ["--kubernetes-image", without, ...args] });
      client = new SandboxClient({ baseUrl: server.url, apiKey: server.apiKey });
    });
    afterAll(async () => {
      await client?.close();
      await server?.stop();
    });

    test("needs no copy of it", async () => {
      await using sandbox = await client.sandboxes.create({ template: image });
      expect(await initContainers()).toBe("");
      expect((await sandbox.execute("print(6 * 7)")).stdout).toBe("42\n");
      const { stdout } = await sandbox.commands.run("id -un; echo hello > /workspace/a && cat /workspace/a");
      expect(stdout).toBe("sandbox\nhello\n");
      const replaced = await sandbox.commands.run("touch /opt/cloud-sandbox/agent/main.js");
      expect(replaced.exitCode).not.toBe(0);
    });

    test("gives it to the sandboxes of other images", async () => {
      await using sandbox = await client.sandboxes.create({ template: without });
      expect(await initContainers()).toBe(image);
      expect((await sandbox.commands.run("id -un")).stdout).toBe("sandbox\n");
    });

    test("is missed with what the cluster says, if it has no agent", async () => {
      const args = ["--kubernetes-image", without, "--kubernetes-agent-image", without, "--pool", "0"];
      const other = await startKubernetesServer({ args });
      const wrong = new SandboxClient({ baseUrl: other.url, apiKey: other.apiKey });
      try {
        await expect(wrong.sandboxes.create({ template: without })).rejects.toMatchObject({
          status: 503,
          message: expect.stringMatching(/cloud-sandbox\/loader.*no such file/),
        });
      } finally {
        await wrong.close();
        await other.stop();
      }
    });
  });
