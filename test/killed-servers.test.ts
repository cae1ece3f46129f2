import { readFileSync } from "node:fs";
import { chmod, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { leftovers, throughMarker } from "./chaos/leftovers.js";
import { ControlPlaneCaller } from "./support/control-plane-caller.js";
import { descendants, environmentOf, type HostProcess, hostProcesses } from "./support/host-processes.js";
import { cannotStartAs, type StartedBy, startLocalServer } from "./support/local-server.js";

/** A bubblewrap that waits before it starts, where its first argument is the one that is awaited. */
class HeldBubblewrap {
  private constructor(private readonly directory: string) {}

  static async open(awaited: "--unshare-user" | "--args"): Promise<HeldBubblewrap> {
    const directory = await mkdtemp(join(tmpdir(), "held-"));
    // Whoever starts it may be another user.
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

  /** Waits until it was started, and tells by which process. */
  async server(): Promise<number> {
    const read = (): number => Number(readFileSync(join(this.directory, "server"), "utf8"));
    await expect.poll(read, { timeout: 20_000 }).toBeGreaterThan(0);
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

const bubblewraps = (server: number): HostProcess[] =>
  hostProcesses().filter(
    ({ pid, commandLine }) =>
      commandLine.startsWith("bwrap ") && environmentOf(pid).includes(`cloud-sandbox-${server}-0-server`),
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
      // Stopped, it lets nothing go on.
      process.kill(server, "SIGSTOP");
      await bubblewrap.letGo();
      await expect.poll(() => bubblewraps(server).length).toBe(2);
    }
    process.kill(server, "SIGKILL");
    await ended;
    await bubblewrap.letGo();
    await expect.poll(() => leftovers(new Set([server])), { timeout: 10_000 }).toEqual([]);
  },
);

test.for<StartedBy>(["root", "an ordinary user"])(
  "what a server started by %s was making when it was killed, its guard too, is ended by the next one",
  async (who, { skip }) => {
    const obstacle = cannotStartAs(who);
    skip(obstacle !== undefined, obstacle);
    await using bubblewrap = await HeldBubblewrap.open("--args");
    const server = await startLocalServer({ who, env: bubblewrap.env, args: ["--pool", "0"] });
    // Never answered.
    const creating = new ControlPlaneCaller(server).create().catch(() => undefined);
    await bubblewrap.server();
    const guard = descendants(server.pid).find(({ commandLine }) =>
      commandLine.includes(" cloud-sandbox-guard"),
    );
    process.kill(guard?.pid ?? 0, "SIGKILL");
    await server.stop("SIGKILL");
    await creating;
    await bubblewrap.letGo();
    const machine = (): string[] =>
      leftovers(new Set([server.pid])).filter((left) => /^process.* bwrap /.test(left));
    // Of the one that was being made, a child is left that waits.
    await expect.poll(machine).toHaveLength(1);
    const next = await startLocalServer({ who, args: ["--pool", "1"] });
    try {
      await expect.poll(() => leftovers(new Set([server.pid])), { timeout: 20_000 }).toEqual([]);
    } finally {
      await next.stop();
    }
  },
);
