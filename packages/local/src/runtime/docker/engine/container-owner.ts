import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { unlessAborted } from "@cloud-sandbox/server-kit";
import type Docker from "dockerode";
import type { ContainerInfo } from "dockerode";
import { isAliveIdentity, processIdentity } from "../../host/process-identity.js";
import { type DockerFailure, isMissing } from "./docker-engine.js";

const prefix = "dev.cloud-sandbox.";

/** The labels of our containers. All have the first two. */
export const labels = {
  /** The machine whose process started it. */
  host: `${prefix}host`,
  /** The process that started it. */
  process: `${prefix}process`,
  /** The runtime in that process. */
  server: `${prefix}server`,
  /** The data directory that the record of its sandbox is in. Without one, nobody goes on with it when its process has ended. */
  owner: `${prefix}owner`,
  /** Its sandbox: whoever has the secret of its machine finds it, and nobody finds the secret or the id by it. */
  sandbox: `${prefix}sandbox`,
} as const;

/** The labels of every container that this process starts. */
export function processLabels(): Record<string, string> {
  return { [labels.host]: thisHost(), [labels.process]: processIdentity(process.pid) ?? "" };
}

/** The server that asks which containers are orphans. */
export interface ServerIdentity {
  /** The value of the label `server` of its containers. */
  readonly server: string;
  /** The value of the label `owner` of its containers. Undefined if it has no data directory, or has not adopted yet. */
  readonly owner: string | undefined;
  /** Whether it uses the container of that name, or is starting it. */
  readonly uses: (name: string) => boolean;
}

/** Milliseconds after which no server waits any more for a container to start. */
const oldestStartMs = 10 * 60_000;

/**
 * Whether nobody uses a container any more. A container without our labels is never one, nor one that runs and has a server, or
 * whose server may come back to go on with it.
 */
export function isOrphan({ Names, Labels, State, Created }: ContainerInfo, server: ServerIdentity): boolean {
  if (!Labels[labels.host] || !Labels[labels.process]) return false;
  if (Names.some((name) => server.uses(name.slice(1)))) return false;
  if (Labels[labels.server] === server.server) return true;
  const owner = Labels[labels.owner];
  if (owner !== undefined && owner === server.owner) return true;
  // A container that has ended belongs to nobody.
  if (State === "exited" || State === "dead") return true;
  const isOfDeadProcess =
    Labels[labels.host] === thisHost() && !isAliveIdentity(Labels[labels.process] ?? "");
  if (State === "created") return isOfDeadProcess || Date.now() - Created * 1000 > oldestStartMs;
  return isOfDeadProcess && owner === undefined;
}

/** Removes orphans. Returns how many there were. */
export async function removeOrphans(docker: Docker, server: ServerIdentity): Promise<number> {
  const filters = JSON.stringify({ label: [labels.host, labels.process] });
  const found = await docker.listContainers({ all: true, filters });
  const orphans = found.filter((container) => isOrphan(container, server));
  await Promise.all(
    orphans.map(async ({ Id, State }) => {
      if (State === "created") await endStart(Id);
      await removeContainer(docker, Id);
    }),
  );
  return orphans.length;
}

/** Milliseconds that a removal may take, also one that somebody else has begun. */
const removalLimitMs = 20_000;

/**
 * Kills a container and removes it. Does nothing if it is gone. If the daemon cannot do it, the reason may be that containerd's
 * process for the container waits for something frozen: ends that process and tries again.
 */
export async function removeContainer(docker: Docker, id: string): Promise<void> {
  await remove(docker, id).catch(async () => {
    await endShim(id);
    await remove(docker, id);
  });
}

async function remove(docker: Docker, id: string): Promise<void> {
  const container = docker.getContainer(id);
  const abortSignal = AbortSignal.timeout(removalLimitMs);
  try {
    await unlessAborted(container.remove({ force: true, v: true, abortSignal }), abortSignal).catch(
      async (error: DockerFailure) => {
        if (error.statusCode !== 409) throw error;
        // Somebody else removes it. The daemon does, when a container did not start or has just ended.
        await unlessAborted(container.wait({ condition: "removed", abortSignal }), abortSignal);
      },
    );
  } catch (error) {
    if (isMissing(error as DockerFailure)) return;
    if (!abortSignal.aborted) throw error;
    throw new Error(
      `Docker has not removed the container ${id.slice(0, 12)} within ${removalLimitMs / 1000} s. End its process containerd-shim, or restart Docker.`,
    );
  }
}

/**
 * Tells machines and containers apart that use the same daemon: a process can only judge for its own list of processes which
 * others are alive.
 */
function thisHost(): string {
  return createHash("sha256").update(`${hostname()} ${machineIdentity()}`).digest("hex").slice(0, 16);
}

/** Identifies this machine, and on Linux the list of processes that this one sees. It stays the same over a restart of the process. */
function machineIdentity(): string {
  return process.platform === "linux"
    ? `${machineId()} ${readlinkSync("/proc/self/ns/pid")}`
    : hardwareIdentity();
}

function machineId(): string {
  try {
    return readFileSync("/etc/machine-id", "utf8").trim();
  } catch {
    return "";
  }
}

/** The hardware's UUID on macOS; empty if its command does not tell. */
function hardwareIdentity(): string {
  try {
    const listed = execFileSync("/usr/sbin/ioreg", ["-rd1", "-c", "IOPlatformExpertDevice"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    return /"IOPlatformUUID" = "([^"]+)"/.exec(listed)?.[1] ?? "";
  } catch {
    return "";
  }
}

/** Milliseconds after which containerd may still begin the start of a container for a daemon that was killed meanwhile. */
const lateStartsMs = [1000, 5000, 20_000];

/** Ends the start of a container, also one that containerd begins only now. */
export async function endStart(container: string): Promise<void> {
  for (const delay of lateStartsMs)
    setTimeout(() => void endShim(container).catch(() => undefined), delay).unref();
  await endShim(container);
}

/**
 * Kills containerd's process that holds a container, the shim. containerd then kills the container's processes, also frozen ones, and
 * forgets the container. That ends what the Docker daemon cannot end: a container in whose start the daemon was killed, which it counts
 * as never started, and one whose shim waits for ever, as for a program that was frozen before it had begun. Does nothing
 * if the daemon is on another machine or this process may not signal the shim.
 */
async function endShim(container: string): Promise<void> {
  if (process.platform !== "linux") return;
  for (const pid of (await readdir("/proc")).map(Number).filter(Number.isInteger)) {
    const words = (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).split("\0");
    const isShim = words[0]?.includes("containerd-shim") && words[words.indexOf("-id") + 1] === container;
    if (!isShim) continue;
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended, or only root may signal it.
    }
  }
}
