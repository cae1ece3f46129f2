import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { runBuilt } from "../support/built-program.js";
import {
  kubectl,
  kubernetesOptions,
  ownCluster,
  startKubernetesServer,
  withoutKubernetes,
} from "../support/kubernetes/kubernetes-server.js";
import { type LocalServer, startLocalServer } from "../support/local-server.js";

const obstacle = withoutKubernetes();
if (obstacle !== undefined) test("the placement of sandboxes", ({ skip }) => skip(obstacle));
else
  describe("the placement of sandboxes", () => {
    const taint = { key: "only", value: "sandboxes", effect: "NoSchedule" };
    let directory: string;
    let file: string;
    let server: LocalServer;
    let client: SandboxClient;
    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), "placement-"));
      file = join(directory, "placement.json");
      await kubectl("create", "priorityclass", "first", "--value=1000");
      await kubectl("label", "node", "node1", "pool=sandboxes");
      await kubectl("taint", "node", "node1", `${taint.key}=${taint.value}:${taint.effect}`);
      const placement = {
        nodeSelector: { pool: "sandboxes" },
        tolerations: [taint],
        templates: {
          base: { nodeSelector: { pool: "none" } },
          [ownCluster().image]: { priorityClassName: "first" },
        },
      };
      await writeFile(file, JSON.stringify(placement));
      const options = ["--kubernetes-placement", file, "--kubernetes-start-timeout", "5"];
      server = await startKubernetesServer({ args: ["--pool", "1", ...options] });
      client = new SandboxClient({ baseUrl: server.url, apiKey: server.apiKey });
    });
    afterAll(async () => {
      await client?.close();
      await server?.stop();
      await kubectl("taint", "node", "node1", `${taint.key}-`);
      await kubectl("label", "node", "node1", "pool-");
      await kubectl("delete", "priorityclass", "first");
      await rm(directory, { recursive: true });
    });

    test("is that of their template, also for those that wait for an owner", async () => {
      const path =
        "jsonpath={range .items[*]}{.status.phase} {.spec.nodeName} {.spec.priority} {.spec.nodeSelector}{end}";
      // The one that waits is of code-interpreter, which has what its image has.
      await expect
        .poll(() => kubectl("get", "pods", "--output", path))
        .toBe('Running node1 1000 {"pool":"sandboxes"}');
      expect((await client.executeIsolated("print(6 * 7)")).stdout).toBe("42\n");
    });

    test("that no node meets fails a create with what the scheduler says", async () => {
      await expect(client.sandboxes.create({ template: "base" })).rejects.toMatchObject({
        status: 503,
        message: expect.stringMatching(/did not start in time: 0\/1 nodes are available: .*didn't match/),
      });
    });

    test("is also that of the Pods with which a server tries the network when it starts", async () => {
      await server.stop();
      await writeFile(file, JSON.stringify({ tolerations: [taint] }));
      const options = kubernetesOptions().filter((option) => option !== "--kubernetes-open-network");
      const { code, stderr } = await runBuilt("local", ["serve", ...options, "--kubernetes-placement", file]);
      expect([code, stderr]).toEqual([1, expect.stringContaining("code in a Pod reaches the network")]);
    });

    test("that no node meets leaves no Pod, if a server that tries the network is told to stop", async () => {
      await writeFile(file, JSON.stringify({ nodeSelector: { pool: "none" } }));
      const options = kubernetesOptions().filter((option) => option !== "--kubernetes-open-network");
      const ended = runBuilt("local", ["serve", ...options, "--kubernetes-placement", file], {
        // Without the option, `timeout` sends a second signal, which ends the server at once.
        through: ["timeout", "--foreground", "6"],
      });
      await expect.poll(() => kubectl("get", "pods", "--output", "name")).toMatch(/trial/);
      expect((await ended).stderr).toContain("told to stop before it had started");
      expect(await kubectl("get", "pods", "--output", "name")).not.toMatch(/trial/);
    });

    test("that no node meets postpones the trial of the network until there is room", async () => {
      const options = kubernetesOptions().filter((option) => option !== "--kubernetes-open-network");
      const args = [...options, "--kubernetes-placement", file, "--pool", "0"];
      const next = await startLocalServer({ args });
      expect(next.log()).toMatch(/the network is tried before .*0\/1 nodes are available/);
      await next.stop();
      expect(await kubectl("get", "pods", "--output", "name")).not.toMatch(/trial/);
    });

    test.each([
      [
        { priorityClassName: "missing" },
        /template base: .*no PriorityClass with name missing was found; .*--kubernetes-placement/,
      ],
      [
        { templates: { "code-interpreter": { nodeSelector: { pool: "a b" } } } },
        /template code-interpreter: .*spec\.nodeSelector: Invalid value.*; .*--kubernetes-placement/,
      ],
    ])(
      "that the cluster refuses, as %j, keeps a server from starting, also where the network may be open",
      async (placement, reason) => {
        await writeFile(file, JSON.stringify(placement));
        const { code, stderr } = await runBuilt("local", [
          ...["serve", ...kubernetesOptions(), "--kubernetes-placement", file],
        ]);
        expect([code, stderr]).toEqual([1, expect.stringMatching(reason)]);
        expect(await kubectl("get", "pods", "--output", "name")).not.toMatch(/trial/);
      },
    );

    test("does not keep a server from starting while a quota is full", async () => {
      await kubectl("create", "quota", "full", "--hard=pods=0");
      onTestFinished(async () => {
        await kubectl("delete", "quota", "full");
      });
      await expect
        .poll(() => kubectl("get", "quota", "full", "--output", "jsonpath={.status.hard}"))
        .not.toBe("");
      const next = await startKubernetesServer({ args: ["--pool", "0"] });
      await next.stop();
    });

    test("in a file with an unknown key keeps a server from starting, with its name", async () => {
      await writeFile(file, JSON.stringify({ nodeselector: {} }));
      const { code, stderr } = await runBuilt("local", [
        ...["serve", ...kubernetesOptions(), "--kubernetes-placement", file],
      ]);
      expect([code, stderr]).toEqual([
        1,
        expect.stringMatching(/placement\.json.*unknown key "nodeselector"/),
      ]);
    });
  });
