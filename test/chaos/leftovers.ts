import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { environmentOf, hostProcesses } from "../support/host-processes.js";

/**
 * A shell command that sets a variable and then becomes the server. Helper processes of the server inherit the variable, so
 * they are found after the server has died.
 */
export const throughMarker = [
  "/bin/sh",
  "-c",
  'CHAOS_SERVER=cloud-sandbox-$$-$(cut -d " " -f 22 /proc/$$/stat)-server exec "$@"',
  "marked",
] as const;

/**
 * Lists what dead servers have left on this machine: processes, control groups, uids, directories, sockets and mounts. They are
 * named by their pids, or by their identities where so many die that another server may have the pid of one.
 */
export function leftovers(dead: ReadonlySet<number | string>): string[] {
  const isDead = (text: string): boolean => {
    // Names of an instance's things begin with its pid and start time.
    const [, pid, startTime] = /(?:^|cloud-sandbox-)(\d+)-(\d+)/.exec(text) ?? [];
    return dead.has(Number(pid)) || dead.has(`${pid}-${startTime}`);
  };
  const found = (kind: string, names: readonly string[]): string[] =>
    names.filter(isDead).map((name) => `${kind}: ${name}`);
  return [
    ...found(
      "process",
      hostProcesses().flatMap(({ pid, commandLine }) => {
        const instance = /cloud-sandbox-\d+-\d+-\w+/.exec(commandLine + environmentOf(pid))?.[0];
        return instance === undefined ? [] : [`${instance} (${pid}, ${commandLine})`];
      }),
    ),
    ...found("control group", groupDirectories().flatMap(entries)),
    ...found("uid", entries("/run/cloud-sandbox-uids").map(leaseOwner)),
    ...found("directory", [tmpdir(), "/dev/shm"].flatMap(entries)),
    ...found(
      "socket",
      lines("/proc/net/unix").filter((line) => line.includes("/cloud-sandbox-")),
    ),
    ...found(
      "mount",
      lines("/proc/self/mounts").filter((line) => line.includes("/cloud-sandbox-")),
    ),
  ];
}

/** The directories in which servers make control groups. They need not exist. */
export function groupDirectories(): string[] {
  const own = lines("/proc/self/cgroup").map((line) => line.split(":"));
  return [
    "/sys/fs/cgroup/cloud-sandbox",
    ...own.map(
      ([, controller, path = ""]) => `/sys/fs/cgroup/${controller}${path === "/" ? "" : path}/cloud-sandbox`,
    ),
  ];
}

/** The uids that a server has leased for sandboxes. */
export function uidLeases(server: number): string[] {
  return entries("/run/cloud-sandbox-uids").filter((name) => leaseOwner(name).startsWith(`${server}-`));
}

function leaseOwner(name: string): string {
  try {
    return readlinkSync(`/run/cloud-sandbox-uids/${name}`);
  } catch {
    return "";
  }
}

function entries(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

const lines = (file: string): string[] => readFileSync(file, "utf8").trim().split("\n");
