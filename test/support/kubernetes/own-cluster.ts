/** Starts a Kubernetes cluster of one node for one run of the tests or a bench, and gives it the images that Pods need. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";
import { savedImage } from "../../../packages/local/test/support/image-archives.js";
import { baseFiles } from "../docker/base-image.js";
import { loadImage } from "./load-image.js";

const run = promisify(execFile);
const script = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const main = fileURLToPath(new URL("../../../packages/local/dist/main.js", import.meta.url));
const programs = process.env.KUBERNETES_BIN || join(homedir(), ".cache", "kubernetes-1.20.2");
const image = "docker.io/library/cloud-sandbox-test:local";
const agentImage = "docker.io/library/cloud-sandbox-agent:local";

/** The cluster of this run, or why there is none. */
export type OwnCluster =
  | {
      /** Has the rights that the guide gives to servers. */
      readonly kubeconfig: string;
      /** Has all rights. */
      readonly admin: string;
      /** The directory of the cluster's processes: see `up`. */
      readonly directory: string;
      /** The directory of kubectl. */
      readonly programs: string;
      readonly image: string;
      readonly agentImage: string;
    }
  | { readonly missing: string };

declare module "vitest" {
  interface ProvidedContext {
    kubernetes: OwnCluster;
  }
}

export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const { cluster, stop } = await startOwnCluster();
  project.provide("kubernetes", cluster);
  return stop;
}

/** Starts a cluster with the images that Pods need. Without `stop` there is none. */
export async function startOwnCluster(): Promise<{ cluster: OwnCluster; stop?: () => Promise<void> }> {
  const missing = obstacle();
  if (missing !== undefined) return { cluster: { missing } };
  const directory = await mkdtemp(join(tmpdir(), "kubernetes-"));
  const cluster = join(directory, "cluster");
  // The shell ends the cluster when its input ends, so also when this process is killed.
  const keeper = spawn(
    "bash",
    ["-c", 'read -r _; "$1" "$2"; rm -rf "$3"', "keeper", script("down"), cluster, directory],
    {
      stdio: ["pipe", "ignore", "ignore"],
      detached: true,
    },
  );
  const stop = async (): Promise<void> => {
    keeper.stdin?.end();
    await once(keeper, "exit");
  };
  try {
    const { stdout } = await run(script("up"), [cluster]);
    const layer = await buffer(await baseFiles());
    await loadImage(cluster, savedImage({ layers: [layer], reference: image, config: {} }));
    const agent = join(directory, "agent.tar");
    await run(process.execPath, [main, "agent-image", agent, "--name", agentImage]);
    await loadImage(cluster, await readFile(agent));
    await rm(agent);
    const admin = stdout.trim();
    const kubeconfig = await serversKubeconfig(admin, join(directory, "kubeconfig"));
    return { cluster: { directory: cluster, kubeconfig, admin, programs, image, agentImage }, stop };
  } catch (error) {
    await stop();
    const reason = error instanceof Error ? error.message : String(error);
    return { cluster: { missing: `no cluster can be started here: ${reason}` } };
  }
}

/** Applies the manifests of the guide, and writes a kubeconfig for the account that they give to servers. */
async function serversKubeconfig(admin: string, path: string): Promise<string> {
  const kubectl = async (...args: readonly string[]): Promise<string> =>
    (await run(join(programs, "kubectl"), ["--kubeconfig", admin, ...args])).stdout;
  const manifests = ["sandboxes.yaml", "outside.yaml"].flatMap((name) => [
    "--filename",
    fileURLToPath(new URL(`../../../deploy/kubernetes/${name}`, import.meta.url)),
  ]);
  await kubectl("apply", ...manifests);
  const account = '.metadata.annotations.kubernetes\\.io/service-account\\.name=="cloud-sandbox-local"';
  const template = `jsonpath={.items[?(@${account})].data.token}`;
  const secretOf = (): Promise<string> =>
    kubectl("--namespace", "cloud-sandbox", "get", "secrets", "--output", template);
  let token = "";
  for (let tries = 0; token === "" && tries < 300; tries += 1) {
    await sleep(100);
    token = await secretOf();
  }
  const server = await kubectl("config", "view", "--output", "jsonpath={.clusters[0].cluster.server}");
  const config = {
    ...{ apiVersion: "v1", kind: "Config", "current-context": "own" },
    clusters: [{ name: "own", cluster: { server, "insecure-skip-tls-verify": true } }],
    users: [{ name: "own", user: { token: Buffer.from(token, "base64").toString("utf8") } }],
    contexts: [{ name: "own", context: { cluster: "own", user: "own", namespace: "cloud-sandbox" } }],
  };
  await writeFile(path, JSON.stringify(config), { mode: 0o600 });
  return path;
}

/** What `up` uses besides Kubernetes itself, with the Debian packages that have it. */
const needed = [
  ["/usr/bin/etcd", "etcd-server"],
  ["/usr/bin/containerd", "containerd"],
  ["/usr/lib/cni/bridge", "containernetworking-plugins"],
  ["/usr/sbin/conntrack", "conntrack"],
  ["/usr/bin/socat", "socat"],
  ["/usr/sbin/iptables", "iptables"],
] as const;

function obstacle(): string | undefined {
  if (process.getuid?.() !== 0) return "a cluster of the tests' own needs root";
  // kubectl is built last.
  if (!existsSync(join(programs, "kubectl")))
    return `${programs} has no programs of Kubernetes ("test/support/kubernetes/build" makes them in some minutes)`;
  const [file, name] = needed.find(([path]) => !existsSync(path)) ?? [];
  return file && `${file} is missing ("apt-get install ${name}")`;
}
