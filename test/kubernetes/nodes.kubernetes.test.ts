import { type Sandbox, SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  kubectl,
  startKubernetesServer,
  withoutKubernetes,
} from "../support/kubernetes/kubernetes-server.js";
import { secondNode } from "../support/kubernetes/second-node.js";
import type { LocalServer } from "../support/local-server.js";

const obstacle = withoutKubernetes();
if (obstacle !== undefined) test("a cluster of two nodes", ({ skip }) => skip(obstacle));
else
  describe("a cluster of two nodes", () => {
    let server: LocalServer;
    let client: SandboxClient;
    /** Pods of servers that earlier tests killed may end later. */
    let others: Map<string, string>;
    const newPods = async (): Promise<Map<string, string>> =>
      new Map([...(await pods())].filter(([name]) => !others.has(name)));
    beforeAll(async () => {
      await secondNode.start();
      others = await pods();
      server = await startKubernetesServer({ args: ["--pool", "0"] });
      client = new SandboxClient({ baseUrl: server.url, apiKey: server.apiKey });
    }, 120_000);
    afterAll(async () => {
      await client?.close();
      await server?.stop();
      await kubectl("uncordon", "node1");
      await secondNode.remove();
    });

    /** Creates a sandbox on one node. */
    const createdOn = async (node: "node1" | "node2"): Promise<Sandbox> => {
      const other = node === "node1" ? "node2" : "node1";
      await kubectl("cordon", other);
      const sandbox = await client.sandboxes.create({ template: "base" });
      await kubectl("uncordon", other);
      return sandbox;
    };

    test("one of which dies: its sandboxes have failed, with the reason, and the others go on", async () => {
      const stays = await createdOn("node1");
      await stays.execute("x = 41");
      const lost = [await createdOn("node2"), await createdOn("node2")];
      expect([...(await newPods()).values()].sort()).toEqual(["node1", "node2", "node2"]);
      const call = expect(
        lost[0]?.execute("sleep 600", { language: "bash", timeoutSeconds: 300 }),
      ).rejects.toThrow();

      await secondNode.kill();
      await call;
      for (const { id } of lost) {
        const state = async () => {
          const { data } = await client.controlPlane.GET("/v1/sandboxes/{id}", { params: { path: { id } } });
          return [data?.status, data?.failure_reason];
        };
        const reason = expect.stringMatching(/Pod was lost: .*could not be reached.*its node ended/);
        await expect.poll(state, { timeout: 120_000 }).toEqual(["error", reason]);
      }
      expect((await stays.execute("print(x + 1)")).stdout).toBe("42\n");

      // Until the cluster notices, it may choose the lost node for a new Pod.
      const path = "jsonpath={.status.conditions[?(@.type=='Ready')].status}";
      await expect
        .poll(() => kubectl("get", "node", "node2", "--output", path), { timeout: 120_000, interval: 1000 })
        .toBe("Unknown");
      const next = await client.sandboxes.create({ template: "base" });
      expect((await next.execute("print(6 * 7)")).stdout).toBe("42\n");
      for (const sandbox of [stays, next]) await sandbox.delete();
      for (const { id } of lost) await client.sandboxes.delete(id);
      expect(await newPods()).toEqual(new Map());
    }, 400_000);
  });

/** The node of each Pod. */
async function pods(): Promise<Map<string, string>> {
  const path = "jsonpath={range .items[*]}{.metadata.name}={.spec.nodeName} {end}";
  const listed = await kubectl("get", "pods", "--output", path);
  return new Map(
    listed
      .split(" ")
      .filter(Boolean)
      .map((pod) => pod.split("=") as [string, string]),
  );
}
