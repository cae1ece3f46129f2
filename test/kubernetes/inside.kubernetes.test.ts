import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { basename, dirname, join } from "node:path";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { savedImage, tarOf } from "../../packages/local/test/support/image-archives.js";
import { baseFiles } from "../support/docker/base-image.js";
import { Balancer } from "../support/kubernetes/balancer.js";
import { chart, helm, valueOptions, withoutHelm } from "../support/kubernetes/helm.js";
import {
  endApiServer,
  kubectl as kubectlElsewhere,
  ownCluster,
  withoutKubernetes,
} from "../support/kubernetes/kubernetes-server.js";
import { loadImage } from "../support/kubernetes/load-image.js";
import { SteadyLoad } from "../support/kubernetes/steady-load.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const dist = join(root, "packages/local/dist");
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
      await loadImage(ownCluster().directory, await serverImage(image));
      await onCluster("install", ...release, chart, "--create-namespace", ...(await ownValues(image)));
      await kubectl("rollout", "status", deployment, "--timeout=180s");
      const secret = ["get", "secret", "cloud-sandbox-keys", "--output", "jsonpath={.data.api_key}"];
      apiKey = Buffer.from(await kubectl(...secret), "base64").toString("utf8");
    });
    afterAll(async () => {
      await onCluster("uninstall", ...release);
      await kubectl("delete", "pods", "--all", "--grace-period=0", "--force");
      await kubectl("delete", "namespace", namespace);
    });

    test("each have all sandboxes, which go on when others take their places", async () => {
      const servers = await serverPods();
      const [one, other] = await Promise.all(servers.map((server) => forwarded(server, apiKey)));
      if (!one || !other) throw new Error(`there are only ${servers.length} servers`);
      const sandbox = await one.client.sandboxes.create({ template: "base" });
      await sandbox.execute("x = 40");
      await (await other.client.sandboxes.connect(sandbox.id)).execute("x += 1");
      await Promise.all([one.stop(), other.stop()]);

      await onCluster("upgrade", ...release, chart, "--reuse-values", "--set", "maxSandboxes=100");
      await kubectl("rollout", "status", deployment, "--timeout=180s");
      await expect
        .poll(async () => (await serverPods()).filter((name) => servers.includes(name)), { timeout: 60_000 })
        .toEqual([]);
      const second = await forwarded("service/cloud-sandbox-local", apiKey);
      const same = await second.client.sandboxes.connect(sandbox.id);
      expect((await same.execute("print(x + 1)")).stdout).toBe("42\n");
      await same.delete();
      await second.stop();
      const left = ["--selector", "app.kubernetes.io/managed-by=cloud-sandbox", "--output", "name"];
      expect(await kubectl("get", "pods", ...left)).toBe("");
    }, 300_000);

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
  });

/** Shares connections out among the Pods that the Service has, as the nodes of a cluster do that have kube-proxy. */
async function shareService(balancer: Balancer): Promise<void> {
  const path = "jsonpath={.subsets[*].addresses[*].ip}";
  const addresses = await kubectl("get", "endpoints", "cloud-sandbox-local", "--output", path);
  balancer.set(addresses.split(" ").map((address) => `http://${address}:8080`));
}

async function serverPods(): Promise<string[]> {
  const selector = ["--selector", "app.kubernetes.io/name=cloud-sandbox-local"];
  return (await kubectl("get", "pods", ...selector, "--output", "name")).trim().split("\n");
}

/** An image with this machine's Node.js and the built server. */
async function serverImage(reference: string): Promise<Buffer> {
  const base = await buffer(await baseFiles());
  const program = Buffer.from('#!/bin/sh\nexec node /usr/local/lib/cloud-sandbox-local/dist/main.js "$@"\n');
  const server = tarOf([{ path: "usr/local/bin/cloud-sandbox-local", text: program, mode: 0o755 }]);
  return savedImage({
    layers: [
      base,
      await placed("usr/local/bin", process.execPath),
      await placed("usr/local/lib/cloud-sandbox-local", dist),
      server,
    ],
    reference,
    config: {},
  });
}

/** A tar with one file or directory of this machine, in a directory of the image. */
async function placed(directory: string, path: string): Promise<Buffer> {
  const place = ["--transform", `s,^,${directory}/,`, "--directory", dirname(path), basename(path)];
  const options = { encoding: "buffer", maxBuffer: 1024 ** 3 } as const;
  return (await promisify(execFile)("tar", ["--create", ...place], options)).stdout;
}

/** The images of the tests. Without kube-proxy, Pods reach the API server at its own address. */
async function ownValues(image: string): Promise<string[]> {
  const own = ownCluster();
  const path = "jsonpath={.clusters[0].cluster.server}";
  const { hostname, port } = new URL(await kubectl("config", "view", "--output", path));
  return valueOptions({
    images: { server: image, agent: own.agentImage, sandboxes: [own.image] },
    ...{ pool: 0, openNetwork: true },
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

interface Forwarded {
  readonly client: SandboxClient;
  stop(): Promise<void>;
}

/** A client of a Pod or a Service, by a port of this machine. */
async function forwarded(target: string, apiKey: string): Promise<Forwarded> {
  const { admin, programs } = ownCluster();
  const kubectl: ChildProcess = spawn(
    join(programs, "kubectl"),
    ["--kubeconfig", admin, "--namespace", namespace, "port-forward", target, ":http"],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const [said] = (await once(kubectl.stdout as NodeJS.ReadableStream, "data")) as [Buffer];
  const port = /127\.0\.0\.1:(\d+)/.exec(said.toString())?.[1];
  const client = new SandboxClient({ apiKey, baseUrl: `http://127.0.0.1:${port}` });
  return {
    client,
    async stop() {
      await client.close();
      const exit = once(kubectl, "exit");
      kubectl.kill();
      await exit;
    },
  };
}
