import { createHash } from "node:crypto";
import { hostname } from "node:os";
import type Docker from "dockerode";
import { machineIdentity } from "../../host/machine-identity.js";
import { isAliveIdentity, processIdentity } from "../../host/process-identity.js";
import { type DockerFailure, isMissing } from "./docker-engine.js";

/** The labels of every container of ours: the machine whose process started it, and that process. */
const labels = { host: "dev.cloud-sandbox.host", process: "dev.cloud-sandbox.process" } as const;

/** The labels of the containers that this process starts. */
export function ownLabels(): Record<string, string> {
  return { [labels.host]: thisHost(), [labels.process]: processIdentity(process.pid) ?? "" };
}

/** The filter for the events of this process's containers. */
export const ownFilter = (): string[] =>
  Object.entries(ownLabels()).map(([name, value]) => `${name}=${value}`);

/**
 * Removes the containers of processes of this machine that have ended. A container whose input has closed ends by itself, so
 * these were frozen. Containers without our labels, of other machines and of living processes are not touched.
 */
export async function removeOrphans(docker: Docker): Promise<number> {
  const found = await docker.listContainers({
    all: true,
    filters: JSON.stringify({ label: [`${labels.host}=${thisHost()}`, labels.process] }),
  });
  const orphans = found.filter(({ Labels }) => !isAliveIdentity(Labels[labels.process] ?? ""));
  await Promise.all(orphans.map(({ Id }) => removeContainer(docker, Id)));
  return orphans.length;
}

/** Milliseconds to wait for a removal that somebody else has begun. */
const removalLimitMs = 10_000;

/** Kills a container and removes it. Does nothing if it is gone, and waits if somebody else is removing it. */
export async function removeContainer(docker: Docker, id: string): Promise<void> {
  const container = docker.getContainer(id);
  try {
    await container.remove({ force: true, v: true });
  } catch (error) {
    if (isMissing(error as DockerFailure)) return;
    if ((error as DockerFailure).statusCode !== 409) throw error;
    // The daemon does, when a container did not start or has just ended.
    const abortSignal = AbortSignal.timeout(removalLimitMs);
    await container.wait({ condition: "removed", abortSignal }).catch((failure: DockerFailure) => {
      if (!isMissing(failure)) throw failure;
    });
  }
}

/**
 * Tells machines and containers apart that use the same daemon: a process can only judge for its own list of processes which
 * others are alive.
 */
function thisHost(): string {
  return createHash("sha256").update(`${hostname()} ${machineIdentity()}`).digest("hex").slice(0, 16);
}
