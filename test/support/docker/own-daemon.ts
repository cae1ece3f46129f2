/** Starts a Docker daemon for one run of the tests, with directories and a socket of its own, and makes an image for it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { TestProject } from "vitest/node";
import { importBaseImage } from "./base-image.js";

/** The daemon of this run, or why there is none. */
export type OwnDaemon = { readonly host: string; readonly image: string } | { readonly missing: string };

declare module "vitest" {
  interface ProvidedContext {
    docker: OwnDaemon;
  }
}

export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const missing = obstacle();
  if (missing !== undefined) {
    project.provide("docker", { missing });
    return undefined;
  }
  const daemon = await startDaemon();
  try {
    const image = await importBaseImage(daemon.host);
    project.provide("docker", { host: daemon.host, image });
  } catch (error) {
    await daemon.stop();
    throw error;
  }
  return daemon.stop;
}

function obstacle(): string | undefined {
  if (process.getuid?.() !== 0) return "a Docker daemon of the tests' own needs root";
  for (const [program, name] of [
    ["dockerd", "docker.io"],
    ["docker-init", "tini"],
    ["dpkg-query", "dpkg"],
  ] as const)
    if (!["/usr/bin", "/usr/sbin"].some((place) => existsSync(join(place, program))))
      return `${program} is not installed ("apt-get install ${name}")`;
  return undefined;
}

/**
 * The shell stops the daemon and removes its files when its input ends, so also when this process is killed. What is mounted
 * below the directory is unmounted first: nothing else may be removed with it.
 */
const script = `
dockerd --data-root "$1/data" --exec-root "$1/exec" --pidfile "$1/pid" -H "unix://$1/docker.sock" \
  --bridge none --iptables=false --ip6tables=false --ip-masq=false >"$1/log" 2>&1 &
read -r _
kill "$!"
wait "$!"
grep -o " $1/[^ ]*" /proc/mounts | sort -r | while read -r place; do umount "$place"; done
rm -rf --one-file-system "$1"
`;

export interface RunningDaemon {
  readonly host: string;
  /** The process id of the daemon. */
  stop(): Promise<void>;
}

export async function startDaemon(): Promise<RunningDaemon> {
  const directory = await mkdtemp(join(tmpdir(), "docker-"));
  const shell = spawn("/bin/sh", ["-c", script, "docker-daemon", directory], {
    cwd: "/",
    // A signal for the tests must not end the daemon before them.
    detached: true,
    stdio: ["pipe", "ignore", "inherit"],
  });
  const exit = once(shell, "exit");
  const stop = async (): Promise<void> => {
    shell.stdin.end();
    await exit;
  };
  const host = `unix://${directory}/docker.sock`;
  for (let tries = 0; tries < 300; tries += 1) {
    if (existsSync(`${directory}/docker.sock`)) return { host, stop };
    await sleep(100);
  }
  await stop();
  throw new Error("The Docker daemon of the tests did not start.");
}
