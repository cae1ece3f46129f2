/** Starts a Docker daemon for one run of the tests or a bench, with directories and a socket of its own, and makes an image for it. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";
import { importBaseImage } from "./base-image.js";

const run = promisify(execFile);

/** The daemon of this run, or why there is none. */
export type OwnDaemon =
  | {
      readonly host: string;
      readonly image: string;
      /** Why its runtime `runsc` starts no containers. Undefined if it does. */
      readonly withoutGvisor: string | undefined;
    }
  | { readonly missing: string };

declare module "vitest" {
  interface ProvidedContext {
    docker: OwnDaemon;
  }
}

export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const { daemon, stop } = await startOwnDaemon();
  project.provide("docker", daemon);
  return stop;
}

/** Starts a daemon with an image. Without `stop` there is none. */
export async function startOwnDaemon(): Promise<{ daemon: OwnDaemon; stop?: () => Promise<void> }> {
  const missing = obstacle();
  if (missing !== undefined) return { daemon: { missing } };
  let running: RunningDaemon | undefined;
  try {
    running = await startDaemon();
    const { host, stop } = running;
    const image = await importBaseImage(host);
    // Where this machine is itself a container, it may not be allowed to start others.
    await run("docker", ["--host", host, "run", "--rm", "--network", "none", image, "true"]);
    return { daemon: { host, image, withoutGvisor: await gvisorObstacle(host, image) }, stop };
  } catch (error) {
    await running?.stop();
    const reason = error instanceof Error ? error.message : String(error);
    return { daemon: { missing: `no container can be started here: ${reason}` } };
  }
}

/** Why `runsc` starts no containers, or none of use. */
async function gvisorObstacle(host: string, image: string): Promise<string | undefined> {
  const install = 'install it with "apt-get install -t bookworm-backports runsc"';
  if (!existsSync("/usr/bin/runsc")) return `runsc is not installed: ${install}`;
  const options = ["run", "--rm", "--network", "none", "--runtime", "runsc"];
  return run("docker", ["--host", host, ...options, image, "ls", "/"]).then(
    () => undefined,
    // That of Debian 12 itself lacks a flag of a system call without which `ls` and `stat` fail.
    ({ message }: Error) => `runsc is too old or starts no container: ${install} (${message.trim()})`,
  );
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
 * Starts containerd, and a daemon for each line of its input, as two programs, as Debian does: containers then
 * outlive a daemon that is killed. The shell stops both and removes their files when its input ends, so also when this process
 * is killed. What is mounted below the directory is unmounted first: nothing else may be removed with it.
 */
const script = `
containerd --config "$1/containerd.toml" --root "$1/containerd" --state "$1/state" --address "$1/containerd.sock" >"$1/containerd-log" 2>&1 &
containerd=$!
daemon=
while read -r _; do
  # The last one was killed. Another process may have its pid by now.
  [ -z "$daemon" ] || wait "$daemon"
  rm -f "$1/pid"
  dockerd --containerd "$1/containerd.sock" --data-root "$1/data" --exec-root "$1/exec" --pidfile "$1/pid" \
    -H "unix://$1/docker.sock" --bridge none --iptables=false --ip6tables=false --ip-masq=false \
    --config-file "$1/daemon.json" >"$1/log" 2>&1 &
  daemon=$!
done
for program in "$daemon" "$containerd"; do
  kill "$program"
  wait "$program"
done
# A process of containerd's stays if containerd ends while it removes a container.
for file in /proc/[0-9]*/cmdline; do
  { tr '\\0' ' ' <"$file"; } 2>/dev/null | grep -qF -- " -address $1/containerd.sock " || continue
  file=\${file%/cmdline}
  kill -KILL "\${file#/proc/}"
done
grep -o " $1/[^ ]*" /proc/mounts | sort -r | while read -r place; do umount "$place"; done
rm -rf --one-file-system "$1"
`;

/** Its configuration: gVisor, which has no network to set up. */
const configuration = {
  runtimes: { runsc: { path: "/usr/bin/runsc", runtimeArgs: ["--network=none"] } },
};

export interface RunningDaemon {
  readonly host: string;
  /** Its files; the file `pid` names its process. */
  readonly directory: string;
  /** Ends the daemon at once. Containers go on. */
  kill(): Promise<void>;
  /** Starts a daemon in the place of one that was killed. */
  restart(): Promise<void>;
  /** Resolves when its files are removed. */
  stop(): Promise<void>;
}

/** `options`: what its configuration has besides, as Docker's `daemon.json`. */
export async function startDaemon(
  options: { readonly runtimes?: object; readonly "live-restore"?: boolean } = {},
): Promise<RunningDaemon> {
  const directory = await mkdtemp(join(tmpdir(), "docker-"));
  await writeFile(
    join(directory, "daemon.json"),
    JSON.stringify({ ...options, runtimes: { ...configuration.runtimes, ...options.runtimes } }),
  );
  await writeFile(join(directory, "containerd.toml"), 'disabled_plugins = ["io.containerd.grpc.v1.cri"]\n');
  const shell = spawn("/bin/sh", ["-c", script, "docker-daemon", directory], {
    cwd: "/",
    // A signal for the tests must not end the daemon before them.
    detached: true,
    stdio: ["pipe", "ignore", "inherit"],
  });
  const exit = once(shell, "exit");
  const socket = join(directory, "docker.sock");

  const kill = async (): Promise<void> => {
    const pid = Number(await readFile(join(directory, "pid"), "utf8"));
    process.kill(pid, "SIGKILL");
    await rm(socket, { force: true });
  };
  const stop = async (): Promise<void> => {
    shell.stdin.end();
    await exit;
  };
  const restart = async (): Promise<void> => {
    // A program that was to kill it has left the socket.
    await rm(socket, { force: true });
    shell.stdin.write("\n");
    for (let tries = 0; tries < 300; tries += 1) {
      if (existsSync(socket)) return;
      await sleep(100);
    }
    const log = await readFile(join(directory, "log"), "utf8").catch(() => "");
    await stop();
    throw new Error(`the Docker daemon did not start: ${log.trim().split("\n").at(-1)}`);
  };
  await restart();
  return { host: `unix://${socket}`, directory, kill, restart, stop };
}
