import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type Docker from "dockerode";
import mapIds from "../bubblewrap/launch/map-ids.pl?raw";
import { codeUid, inside } from "../container/paths.js";
import { type MountUids, sourceFields } from "../host/mounts/mount-source.js";
import openMount from "../host/mounts/open-mount.pl?raw";
import type { MachineMount } from "../sandbox-runtime.js";
import type { DaemonInformation } from "./engine/docker-engine.js";
import mountInContainer from "./mount-in-container.pl?raw";

const run = promisify(execFile);

const script = `${mapIds}${openMount}${mountInContainer}
mountInContainer($ENV{ARCHITECTURE}, $ENV{PID}, $ENV{VARIABLE}, $ENV{OWNER}, split /\\n/, $ENV{MOUNTS}, -1);`;

/** The agent and the supervisor are the host's root by their uid: files of root seem to be nobody's, and those of others have no id. */
const uids: MountUids = { code: codeUid, count: 1, root: 65_534, mapsOthers: false };

/**
 * Returns why nothing of this machine can be mounted in containers, and what to do. Undefined if mounts work, as far as
 * the daemon tells.
 */
export function mountObstacle(
  { OperatingSystem, SecurityOptions = [] }: DaemonInformation,
  runtime: string | undefined,
): string | undefined {
  const { DOCKER_HOST = "" } = process.env;
  if (process.platform !== "linux" || process.getuid?.() !== 0)
    return "in containers only a server that root started on the Linux machine of the Docker daemon can mount them; start it there as root";
  if (DOCKER_HOST !== "" && !DOCKER_HOST.startsWith("unix:"))
    return "the Docker daemon is reached over a network; use the socket of one on this machine";
  if (OperatingSystem === "Docker Desktop")
    return "Docker Desktop runs containers in a virtual machine; use a Docker daemon of this machine itself";
  if (SecurityOptions.some((option) => /^name=(rootless|userns)/.test(option)))
    return "the Docker daemon maps uids; use one that neither is rootless nor has userns-remap";
  if (runtime !== undefined)
    return `containers of the runtime ${runtime} may not see what is mounted in them; leave --docker-runtime out`;
  return undefined;
}

const emptyDirectory = "ro,noexec,nosuid,nodev,size=4096";

/** The tmpfs that Docker makes for a container's mounts: only Docker can make a directory in the read-only root. They are covered then. */
export function mountPoints(mounts: readonly MachineMount[]): Record<string, string> {
  const writable = ["/workspace", inside.home];
  const inRoot = mounts.filter(
    ({ target }) => !writable.some((tree) => target === tree || target.startsWith(`${tree}/`)),
  );
  return Object.fromEntries(inRoot.map(({ target }) => [target, emptyDirectory]));
}

/** What Docker makes read-only in a container that names no such paths itself. */
const readOnlyPaths = ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"];

/**
 * Makes the directories of an image's VOLUME as read-only as the root: Docker would let code write there to the daemon's disk,
 * without a limit. gVisor cannot, and gets empty directories in their place.
 */
export function withVolumes(
  volumes: readonly string[],
  tmpfs: Readonly<Record<string, string>>,
  isGvisor: boolean,
): { Tmpfs: Record<string, string>; ReadonlyPaths: string[] } {
  const others = volumes.filter((path) => !(path in tmpfs));
  const empty = isGvisor ? others.map((path) => [path, emptyDirectory]) : [];
  return {
    Tmpfs: { ...tmpfs, ...Object.fromEntries(empty) },
    ReadonlyPaths: [...readOnlyPaths, ...others],
  };
}

/** The directories of sandboxes, which are unpacked anew when one is started again. */
const kept = ["/workspace", "/tmp", inside.home];

/**
 * What the directories of an image's VOLUME take of those of sandboxes: Docker makes them, and those above them, for root. They are no
 * files of the sandbox, and nothing can be unpacked there.
 */
export const takenByVolumes = (volumes: readonly string[]): string[] =>
  volumes.flatMap((path) =>
    kept
      .filter((tree) => path.startsWith(`${tree}/`))
      .map((tree) => `${tree}/${path.slice(tree.length + 1).split("/", 1)}`),
  );

/**
 * Mounts volumes and directories of this machine in a container that has begun, before any code runs in it. `variable`: one of the
 * container's environment, which no other process has.
 */
export async function mountIn(
  container: Docker.Container,
  variable: string,
  mounts: readonly MachineMount[],
): Promise<void> {
  const { State } = await container.inspect();
  const fields = mounts.flatMap((mount) => [mount.target.slice(1), ...sourceFields(mount, uids)]);
  try {
    await run("perl", ["-e", script], {
      cwd: "/",
      env: {
        PATH: process.env.PATH ?? "/usr/bin:/bin",
        LC_ALL: "C",
        ARCHITECTURE: process.arch,
        PID: String(State.Pid),
        VARIABLE: variable,
        OWNER: String(codeUid),
        MOUNTS: fields.join("\n"),
      },
    });
  } catch (error) {
    const { code, stderr, message } = error as NodeJS.ErrnoException & { readonly stderr?: string };
    if (code === "ENOENT") throw new Error("mounts in containers need Perl: install the package perl");
    throw new Error(stderr?.trim() || message, { cause: error });
  }
}
