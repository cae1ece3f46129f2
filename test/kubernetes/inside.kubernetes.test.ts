import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect, connectionOf } from "../../packages/mcp/test/support/mcp-connection.js";
import { mcpWalk, useMcpServer } from "../interop/mcp-walk.js";
import { useVendorSdk, vendorSdkWalk } from "../interop/vendor-sdk-walk.js";
import { codeBlocks, root } from "../support/documents/code-blocks.js";
import { freePort } from "../support/free-port.js";
import { Balancer } from "../support/kubernetes/balancer.js";
import { chart, helm, helmDirectory, valueOptions, withoutHelm } from "../support/kubernetes/helm.js";
import {
  endApiServer,
  kubectl as kubectlElsewhere,
  ownCluster,
  withoutKubernetes,
} from "../support/kubernetes/kubernetes-server.js";
import { loadImage } from "../support/kubernetes/load-image.js";
import { serverRights } from "../support/kubernetes/rights.js";
import { SteadyLoad } from "../support/kubernetes/steady-load.js";
import { clientPrograms, insideImage } from "./inside-image.js";

/** What the blocks of the guide begin with that use servers in the cluster. */
const usesServers = /^(kubectl --namespace cloud-sandbox rollout status|export CLOUD_SANDBOX_BASE_URL=)/;
const ofSandboxes = ["--selector", "app.kubernetes.io/managed-by=cloud-sandbox"];
/** Not that of the other tests, whose account and rights the chart would take over. */
const namespace = "inside";
const release = ["cloud-sandbox", "--namespace", namespace] as const;
const obstacle = withoutKubernetes() ?? withoutHelm();
if (obstacle !== undefined) test("servers inside of the cluster", ({ skip }) => skip(obstacle));
else
  describe("servers inside of the cluster", () => {
    const image = "docker.io/library/cloud-sandbox-server:local";
    const deployment = "deployment/cloud-sandbox-local";
    let apiKey: string;

    beforeAll(async () => {
      await loadImage(ownCluster().directory, await insideImage(image));
      await onCluster("install", ...release, chart, "--create-namespace", ...(await ownValues(image)));
      await kubectl("rollout", "status", deployment, "--timeout=180s");
      const secret = ["get", "secret", "cloud-sandbox-keys", "--output", "jsonpath={.data.api_key}"];
      apiKey = Buffer.from(await kubectl(...secret), "base64").toString("utf8");
    });
    afterAll(async () => {
      await onCluster("uninstall", ...release, "--ignore-not-found");
      await kubectl("delete", "pods", "--all", "--grace-period=0", "--force");
      await kubectl("delete", "namespace", namespace);
    });

    test("each have all sandboxes, which go on when others take their places", async () => {
      const servers = await serverPods();
      const [one, other] = await Promise.all(servers.map((server) => forwarded(server, apiKey)));
      if (!one || !other) throw new Error(`there are only ${servers.length} servers`);
      const sandbox = await one.client.sandboxes.create({ template: "base" });
      const selector = "jsonpath={.items[*].spec.nodeSelector}";
      expect(await kubectl("get", "pods", ...ofSandboxes, "--output", selector)).toBe(
        '{"kubernetes.io/os":"linux"}',
      );
      await sandbox.execute("x = 40");
      await (await other.client.sandboxes.connect(sandbox.id)).execute("x += 1");
      await Promise.all([one, other].map((server) => server[Symbol.asyncDispose]()));

      await onCluster("upgrade", ...release, chart, "--reuse-values", "--set", "maxSandboxes=100");
      await kubectl("rollout", "status", deployment, "--timeout=180s");
      await expect
        .poll(async () => (await serverPods()).filter((name) => servers.includes(name)), { timeout: 60_000 })
        .toEqual([]);
      await using second = await forwarded("service/cloud-sandbox-local", apiKey);
      const same = await second.client.sandboxes.connect(sandbox.id);
      expect((await same.execute("print(x + 1)")).stdout).toBe("42\n");
      await same.delete();
      expect(await kubectl("get", "pods", ...ofSandboxes, "--output", "name")).toBe("");
    }, 300_000);

    test("are used as the guide says", async () => {
      const port = String(await freePort());
      const [reach = "", use = ""] = codeBlocks()
        .filter(({ file, code }) => file === "docs/guides/kubernetes.md" && usesServers.test(code))
        .map(({ code }) =>
          code.replaceAll("--namespace cloud-sandbox", `--namespace ${namespace}`).replaceAll("8080", port),
        );
      const waited = `until (: </dev/tcp/127.0.0.1/${port}) 2>/dev/null; do sleep 0.1; done`;
      expect(await shell([reach, waited, use, "kill %1"].join("\n"))).toMatch(/^42$/m);
      expect(await kubectl("get", "pods", ...ofSandboxes, "--output", "name")).toBe("");
    });

    describe("are used by the vendor's SDK and by our MCP server", () => {
      test("from outside of the cluster", async () => {
        await using service = await forwarded("service/cloud-sandbox-local", apiKey);
        expect(await useVendorSdk({ apiKey, baseURL: service.url })).toEqual(vendorSdkWalk);
        const mcp = await connect({ CLOUD_SANDBOX_API_KEY: apiKey, CLOUD_SANDBOX_BASE_URL: service.url });
        expect(await useMcpServer(mcp).finally(() => mcp.client.close())).toEqual(mcpWalk);
      });

      test("from a Pod of the cluster", async () => {
        const pod = ["--image", image, "--image-pull-policy", "IfNotPresent", "--restart", "Never"];
        await kubectl("run", "client", ...pod, "--command", "--", "sleep", "infinity");
        await kubectl("wait", "--for=condition=Ready", "pod/client", "--timeout=60s");
        const [url = ""] = await serviceUrls();
        const inPod = (input: string, ...command: readonly string[]) => [
          "exec",
          input,
          "client",
          "--",
          ...command,
        ];
        const told = await kubectl(...inPod("--stdin=false", ...clientPrograms.vendorSdk, url, apiKey));
        expect(JSON.parse(told)).toEqual(vendorSdkWalk);

        const keys = [`CLOUD_SANDBOX_API_KEY=${apiKey}`, `CLOUD_SANDBOX_BASE_URL=${url}`];
        const transport = new StdioClientTransport({
          command: join(ownCluster().programs, "kubectl"),
          args: [...access(), ...inPod("--stdin", "env", ...keys, ...clientPrograms.mcp)],
          stderr: "pipe",
        });
        let stderr = "";
        transport.stderr?.on("data", (text: Buffer) => {
          stderr += text;
        });
        const client = new Client({ name: "outside", version: "1.0.0" });
        await client.connect(transport);
        const mcp = await connectionOf(client, transport, () => stderr);
        expect(await useMcpServer(mcp).finally(() => client.close())).toEqual(mcpWalk);
      });
    });

    test("are replaced in an upgrade without a failed call", async () => {
      await using balancer = await Balancer.open();
      const over = new AbortController();
      await shareService(balancer);
      const sharing = (async () => {
        while (!over.signal.aborted) await shareService(balancer);
      })();
      const load = new SteadyLoad(balancer.url, apiKey);
      await load.begin();
      const old = await serverPods();
      await kubectl("rollout", "restart", deployment);
      await kubectl("rollout", "status", deployment, "--timeout=180s");
      const remaining = async () => (await serverPods()).filter((name) => old.includes(name));
      await expect.poll(remaining, { timeout: 120_000, interval: 1000 }).toEqual([]);
      const left = await load.end();
      over.abort();
      await sharing;
      expect([load.failures, left]).toEqual([[], []]);
    }, 600_000);

    test("answer for their sandboxes while the API server is away, and refuse changes", async () => {
      const selector = ["--selector", "app.kubernetes.io/name=cloud-sandbox-local"];
      const path = "jsonpath={.items[?(@.status.phase=='Running')].status.podIP}";
      const [address] = (await kubectl("get", "pods", ...selector, "--output", path)).split(" ");
      await using client = new SandboxClient({ apiKey, baseUrl: `http://${address}:8080` });
      const sandbox = await client.sandboxes.create({ template: "base" });
      await sandbox.execute("x = 41");
      const start = await endApiServer();
      try {
        const health = async () => (await client.health()).status;
        await expect.poll(health, { timeout: 60_000 }).toBe("degraded");
        expect((await sandbox.execute("print(x + 1)")).stdout).toBe("42\n");
        await expect(sandbox.delete()).rejects.toMatchObject({ status: 503 });
      } finally {
        await start();
      }
      await expect
        .poll(() => sandbox.delete().then(() => "deleted", String), { timeout: 120_000 })
        .toBe("deleted");
    });

    test("have used the rights that the chart gives them, and no more are given", async () => {
      const { given, used } = await serverRights(namespace);
      // Records are read again when somebody else has changed them, and deleted beyond 1,000 ended sandboxes.
      const rare = ["get configmaps", "delete configmaps"];
      const common = (rights: ReadonlySet<string>) =>
        [...rights].filter((right) => !rare.includes(right)).sort();
      expect(common(used)).toEqual(common(given));
    });

    test("are uninstalled as the guide says, and leave only the closed network", async () => {
      await using service = await forwarded("service/cloud-sandbox-local", apiKey);
      await service.client.sandboxes.create({ template: "base" });
      const block = codeBlocks().find(({ code }) => code.includes("\nhelm uninstall"))?.code ?? "";
      await shell(block.replaceAll("--namespace cloud-sandbox", `--namespace ${namespace}`));
      const kinds = "pods,configmaps,secrets,leases,deployments,services";
      const own = "app.kubernetes.io/managed-by in (cloud-sandbox,Helm)";
      expect(await kubectl("get", kinds, "--selector", own, "--output", "name")).toBe("");
      expect(await kubectl("get", "networkpolicies", "--output", "name")).toContain("/cloud-sandbox");
    }, 180_000);
  });

/** Runs commands of the guide on the cluster of the tests. Resolves with what they print. */
async function shell(script: string): Promise<string> {
  const { programs, admin } = ownCluster();
  const env = {
    ...process.env,
    PATH: [programs, helmDirectory, join(root, "node_modules/.bin"), process.env.PATH].join(":"),
    KUBECONFIG: admin,
  };
  return (await promisify(execFile)("bash", ["-ec", script], { env, timeout: 150_000 })).stdout;
}

/** Shares connections out among the Pods that the Service has, as the nodes of a cluster do that have kube-proxy. */
async function shareService(balancer: Balancer): Promise<void> {
  balancer.set(await serviceUrls());
}

/** The addresses of the Pods that the Service has. Without kube-proxy, it has none of its own. */
async function serviceUrls(): Promise<string[]> {
  const path = "jsonpath={.subsets[*].addresses[*].ip}";
  const addresses = await kubectl("get", "endpoints", "cloud-sandbox-local", "--output", path);
  return addresses.split(" ").map((address) => `http://${address}:8080`);
}

async function serverPods(): Promise<string[]> {
  const selector = ["--selector", "app.kubernetes.io/name=cloud-sandbox-local"];
  return (await kubectl("get", "pods", ...selector, "--output", "name")).trim().split("\n");
}

/** The images of the tests. Without kube-proxy, Pods reach the API server at its own address. */
async function ownValues(image: string): Promise<string[]> {
  const own = ownCluster();
  const path = "jsonpath={.clusters[0].cluster.server}";
  const { hostname, port } = new URL(await kubectl("config", "view", "--output", path));
  return valueOptions({
    images: { server: image, agent: own.agentImage, sandboxes: [own.image] },
    ...{ pool: 0, openNetwork: true },
    placement: { nodeSelector: { "kubernetes.io/os": "linux" } },
    extraEnv: [
      { name: "KUBERNETES_SERVICE_HOST", value: hostname },
      { name: "KUBERNETES_SERVICE_PORT", value: port },
    ],
  });
}

const onCluster = (...args: readonly string[]): Promise<string> =>
  helm("--kubeconfig", ownCluster().admin, ...args);

const kubectl = (...args: readonly string[]): Promise<string> =>
  kubectlElsewhere("--namespace", namespace, ...args);

const access = (): string[] => ["--kubeconfig", ownCluster().admin, "--namespace", namespace];

interface Forwarded extends AsyncDisposable {
  readonly url: string;
  readonly client: SandboxClient;
}

/** A client of a Pod or a Service, by a port of this machine. */
async function forwarded(target: string, apiKey: string): Promise<Forwarded> {
  const kubectl: ChildProcess = spawn(
    join(ownCluster().programs, "kubectl"),
    [...access(), "port-forward", target, ":http"],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const [said] = (await once(kubectl.stdout as NodeJS.ReadableStream, "data")) as [Buffer];
  const port = /127\.0\.0\.1:(\d+)/.exec(said.toString())?.[1];
  const url = `http://127.0.0.1:${port}`;
  const client = new SandboxClient({ apiKey, baseUrl: url });
  return {
    ...{ url, client },
    async [Symbol.asyncDispose]() {
      await client.close();
      const exit = once(kubectl, "exit");
      kubectl.kill();
      await exit;
    },
  };
}
