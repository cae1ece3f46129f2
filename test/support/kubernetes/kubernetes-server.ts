import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { inject } from "vitest";
import { type LocalServer, startLocalServer } from "../local-server.js";
import type { OwnCluster } from "./own-cluster.js";

/** Why servers of this runtime cannot be started here. Undefined if they can. */
export function withoutKubernetes(): string | undefined {
  const kubernetes = inject("kubernetes");
  return "missing" in kubernetes ? kubernetes.missing : undefined;
}

/** Why the cluster has no types but Kubernetes' own, or none at all. Undefined if more can be added. */
export function withoutCustomResources(): string | undefined {
  const kubernetes = inject("kubernetes");
  if ("missing" in kubernetes) return kubernetes.missing;
  const { programs } = kubernetes;
  return existsSync(join(programs, "custom-resources"))
    ? undefined
    : `custom resources crash the API server in ${programs} ("test/support/kubernetes/build" builds it anew in some minutes)`;
}

/** The cluster of the tests. */
export function ownCluster(): Extract<OwnCluster, { kubeconfig: string }> {
  const kubernetes = inject("kubernetes");
  if ("missing" in kubernetes) throw new Error(kubernetes.missing);
  return kubernetes;
}

/** The options of a server that uses the cluster, from outside of it. No network plug-in of the cluster enforces policies. */
export function kubernetesOptions(): string[] {
  const { kubeconfig, image, agentImage } = ownCluster();
  return [
    ...["--runtime", "kubernetes", "--kubeconfig", kubeconfig, "--kubernetes-open-network"],
    ...["--kubernetes-image", image, "--kubernetes-agent-image", agentImage],
  ];
}

/** Starts the built server with the kubernetes runtime. */
export function startKubernetesServer({
  args = [],
  ...options
}: NonNullable<Parameters<typeof startLocalServer>[0]> = {}): Promise<LocalServer> {
  return startLocalServer({ ...options, args: [...kubernetesOptions(), ...args] });
}

/** Ends the API server. Resolves with how to start it again. */
export async function endApiServer(): Promise<() => Promise<void>> {
  const { directory } = ownCluster();
  const pidFile = join(directory, "pid/apiserver");
  const pid = Number(await readFile(pidFile, "utf8"));
  const command = (await readFile(`/proc/${pid}/cmdline`, "utf8")).split("\0").slice(0, -1);
  process.kill(pid, "SIGKILL");
  return async () => {
    const [program = "", ...args] = command;
    const again = spawn(program, args, { cwd: directory, detached: true, stdio: "ignore" });
    again.unref();
    await writeFile(pidFile, String(again.pid));
  };
}

/** Runs kubectl with all rights in the namespace of the sandboxes. Resolves with what it prints. */
export async function kubectl(...args: readonly string[]): Promise<string> {
  const { admin, programs } = ownCluster();
  const all = ["--kubeconfig", admin, "--namespace", "cloud-sandbox", ...args];
  return (await promisify(execFile)(join(programs, "kubectl"), all)).stdout;
}
