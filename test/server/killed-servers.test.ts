import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { groupDirectories, leftovers, throughMarker } from "../chaos/leftovers.js";
import { ControlPlaneCaller } from "../support/control-plane-caller.js";
import { descendants, environmentOf, type HostProcess, hostProcesses } from "../support/host-processes.js";
import { cannotStartAs, type StartedBy, startLocalServer } from "../support/local-server.js";

/**
 * A program `bwrap` for the server's path. If its first argument is `awaited`, it waits for `letGo()` before it becomes
 * the real bubblewrap.
 */
class HeldBubblewrap {
  private constructor(private readonly directory: string) {}

  static async open(awaited: "--unshare-user" | "--args"): Promise<HeldBubblewrap> {
    const directory = await mkdtemp(join(tmpdir(), "held-"));
    // Another user's server must be able to use this directory.
    await chmod(directory, 0o777);
    await writeFile(
      join(directory, "bwrap"),
      `#!/bin/sh
if [ "$1" = ${awaited} ]; then
  echo "$PPID" > "${directory}/server.new"; mv "${directory}/server.new" "${directory}/server"
  while [ ! -e "${directory}/go" ]; do sleep 0.01; done
fi
PATH=\${PATH#*:} exec bwrap "$@"
`,
      { mode: 0o755 },
    );
    return new HeldBubblewrap(directory);
  }

  get env(): Record<string, string> {
    return { PATH: `${this.directory}:${process.env.PATH}` };
  }

  /** Waits until the server has started this `bwrap`. Resolves with the server's pid. */
  async server(): Promise<number> {
    const read = (): number => Number(readFileSync(join(this.directory, "server"), "utf8"));
    await expect.poll(read).toBeGreaterThan(0);
    return read();
  }

  async letGo(): Promise<void> {
    await writeFile(join(this.directory, "going"), "");
    await rename(join(this.directory, "going"), join(this.directory, "go"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.letGo();
    await rm(this.directory, { recursive: true });
  }
}

/** A process in a control group, as a server leaves it that was killed. It belongs to the user who runs this test. */
class LeftProcess {
  private constructor(
    private readonly child: ReturnType<typeof spawn>,
    private readonly instance: string,
  ) {}

  /** Resolves with undefined if this user may not make control groups on this host. */
  static async start(): Promise<LeftProcess | undefined> {
    const child = spawn("sleep", ["600"], { stdio: "ignore" });
    // The group is named after the pid of its server. No process has this pid, so other servers see that its server is
    // dead.
    const left = new LeftProcess(child, `${2 ** 30}-${process.pid}`);
    for (const group of left.#groups) {
      const isIn = await mkdir(group, { recursive: true })
        // Do not create cgroup.procs: a directory without that file is no control group.
        .then(() => writeFile(join(group, "cgroup.procs"), String(child.pid), { flag: "r+" }))
        .then(
          () => true,
          () => false,
        );
      if (isIn) return left;
    }
    await left[Symbol.asyncDispose]();
    return undefined;
  }

  get #groups(): string[] {
    return groupDirectories().map((family) => join(family, this.instance, "machine"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { child } = this;
    const exit = child.exitCode === null && child.signalCode === null ? once(child, "exit") : undefined;
    child.kill("SIGKILL");
    await exit;
    for (const group of this.#groups)
      for (const directory of [group, dirname(group), dirname(dirname(group))])
        await rmdir(directory).catch(() => undefined);
  }
}

const bubblewraps = (server: number): HostProcess[] =>
  hostProcesses().filter(
    ({ pid, commandLine }) =>
      commandLine.startsWith("bwrap ") &&
      environmentOf(pid).includes(`CHAOS_SERVER=cloud-sandbox-${server}-`),
  );

test.for<[StartedBy, "before bubblewrap starts" | "while bubblewrap waits for its uids"]>([
  ["root", "before bubblewrap starts"],
  ["root", "while bubblewrap waits for its uids"],
  ["an ordinary user", "before bubblewrap starts"],
])(
  "a server started by %s that is killed in its probe, %s, leaves no process",
  async ([who, moment], { skip }) => {
    const obstacle = cannotStartAs(who);
    skip(obstacle !== undefined, obstacle);
    await using bubblewrap = await HeldBubblewrap.open("--unshare-user");
    const starting = startLocalServer({ who, env: bubblewrap.env, through: throughMarker });
    const ended = expect(starting).rejects.toThrow("ended before it was ready");
    const server = await bubblewrap.server();
    if (moment === "while bubblewrap waits for its uids") {
      // Stop the server, so that it does not map the uids for which bubblewrap waits.
      process.kill(server, "SIGSTOP");
      await bubblewrap.letGo();
      await expect.poll(() => bubblewraps(server).length).toBe(2);
    }
    process.kill(server, "SIGKILL");
    await ended;
    await bubblewrap.letGo();
    await expect.poll(() => leftovers(new Set([server]))).toEqual([]);
  },
);

test.for<StartedBy>(["root", "an ordinary user"])(
  "a machine that a server started by %s was making when it was killed with its guard is ended by the next server",
  async (who, { skip }) => {
    const obstacle = cannotStartAs(who);
    skip(obstacle !== undefined, obstacle);
    await using bubblewrap = await HeldBubblewrap.open("--args");
    const server = await startLocalServer({ who, env: bubblewrap.env, args: ["--pool", "0"] });
    // The server is killed before it answers this create.
    const creating = new ControlPlaneCaller(server).create().catch(() => undefined);
    await bubblewrap.server();
    const guard = descendants(server.pid).find(({ commandLine }) =>
      commandLine.includes(" cloud-sandbox-guard"),
    );
    process.kill(guard?.pid ?? 0, "SIGKILL");
    await server.stop("SIGKILL");
    await creating;
    await bubblewrap.letGo();
    const left = (): string[] => leftovers(new Set([server.pid]));
    const isMachine = (entry: string): boolean => /^process.* bwrap /.test(entry);
    // One bubblewrap process of the unfinished machine is left, and waits. Nothing is left if a server of another test
    // has already ended it.
    await expect.poll(() => left().length === 0 || left().filter(isMachine).length === 1).toBe(true);
    const next = await startLocalServer({ who, args: ["--pool", "1"] });
    try {
      await expect.poll(left).toEqual([]);
    } finally {
      await next.stop();
    }
  },
);

test("a server of an ordinary user starts sandboxes while processes of root's killed server are left", async ({
  skip,
}) => {
  // Only root can leave a process that an ordinary user may not signal.
  const obstacle = cannotStartAs("root");
  skip(obstacle !== undefined, obstacle);
  await using left = await LeftProcess.start();
  skip(left === undefined, "this host allows no control groups");
  const server = await startLocalServer({ who: "an ordinary user", args: ["--pool", "0"] });
  try {
    // A server of root in another test may end the process meanwhile: this test then shows nothing, but does not fail.
    const { status } = await new ControlPlaneCaller(server).create();
    expect(status).toBe("running");
  } finally {
    await server.stop();
  }
});
