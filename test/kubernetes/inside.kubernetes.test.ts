import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chown, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { savedImage, tarOf } from "../../packages/local/test/support/image-archives.js";
import { baseFiles } from "../support/docker/base-image.js";
import { kubectl, ownCluster, withoutKubernetes } from "../support/kubernetes/kubernetes-server.js";
import { loadImage } from "../support/kubernetes/load-image.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const dist = join(root, "packages/local/dist");
const obstacle = withoutKubernetes();
if (obstacle !== undefined) test("a server inside of the cluster", ({ skip }) => skip(obstacle));
else
  describe("a server inside of the cluster", () => {
    const image = "docker.io/library/cloud-sandbox-server:local";
    const deployment = "deployment/cloud-sandbox-local";
    let directory: string;
    let manifest: string;

    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), "inside-"));
      await loadImage(ownCluster().directory, await serverImage(image));
      manifest = join(directory, "server.yaml");
      await writeFile(manifest, await ownManifest(image, await dataOf(directory)));
      await kubectl("create", "secret", "generic", "cloud-sandbox-local", "--from-literal=api-key=own-key");
      await kubectl("apply", "--filename", manifest);
      await kubectl("rollout", "status", deployment, "--timeout=180s");
    });
    afterAll(async () => {
      await kubectl("delete", "--filename", manifest, "--wait");
      await kubectl("delete", "secret", "cloud-sandbox-local");
      await kubectl("delete", "pods", "--all", "--grace-period=0", "--force");
      await rm(directory, { recursive: true });
    });

    test("reaches Pods at their addresses, and sandboxes go on when another takes its place", async () => {
      const first = await forwarded(deployment);
      const sandbox = await first.client.sandboxes.create({ template: "base" });
      await sandbox.execute("x = 41");
      await first.stop();

      await kubectl("rollout", "restart", deployment);
      await kubectl("rollout", "status", deployment, "--timeout=180s");
      const second = await forwarded(deployment);
      const same = await second.client.sandboxes.connect(sandbox.id);
      expect((await same.execute("print(x + 1)")).stdout).toBe("42\n");
      await same.delete();
      await second.stop();
      const left = ["--selector", "app.kubernetes.io/managed-by=cloud-sandbox", "--output", "name"];
      expect(await kubectl("get", "pods", ...left)).toBe("");
    });
  });

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

/** A volume of this machine for the server's data. */
async function dataOf(directory: string): Promise<string> {
  await chown(directory, 1000, 1000);
  const volume = {
    ...{ apiVersion: "v1", kind: "PersistentVolume", metadata: { name: "cloud-sandbox-data" } },
    spec: {
      ...{ accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" } },
      ...{ hostPath: { path: directory }, persistentVolumeReclaimPolicy: "Retain" },
    },
  };
  return JSON.stringify(volume);
}

/** The manifest of the guide with the images of the tests. Without kube-proxy, Pods reach the API server at its own address. */
async function ownManifest(image: string, volume: string): Promise<string> {
  const own = ownCluster();
  const text = await readFile(join(root, "deploy/kubernetes-server.yaml"), "utf8");
  const replaced = text
    .replace("registry.example/cloud-sandbox-local:1", image)
    .replace("registry.example/cloud-sandbox-agent:1", own.agentImage)
    .replace("python:3.12-slim", own.image)
    .replace(
      "- --leave-running",
      "- --leave-running\n            - --kubernetes-open-network\n            - --pool=0",
    )
    .replace(
      /^( *)env:$/m,
      "$&\n$1  - { name: KUBERNETES_SERVICE_HOST, value: 10.245.0.1 }\n$1  - { name: KUBERNETES_SERVICE_PORT, value: '16443' }",
    );
  return `${replaced}---\n${volume}\n`;
}

interface Forwarded {
  readonly client: SandboxClient;
  stop(): Promise<void>;
}

/** A client of the server, by a port of this machine. */
async function forwarded(deployment: string): Promise<Forwarded> {
  const { admin, programs } = ownCluster();
  const kubectl: ChildProcess = spawn(
    join(programs, "kubectl"),
    ["--kubeconfig", admin, "--namespace", "cloud-sandbox", "port-forward", deployment, ":8080"],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const [said] = (await once(kubectl.stdout as NodeJS.ReadableStream, "data")) as [Buffer];
  const port = /127\.0\.0\.1:(\d+)/.exec(said.toString())?.[1];
  const client = new SandboxClient({ apiKey: "own-key", baseUrl: `http://127.0.0.1:${port}` });
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
