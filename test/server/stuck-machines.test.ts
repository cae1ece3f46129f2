import { readFileSync } from "node:fs";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { leftovers } from "../chaos/leftovers.js";
import { describeForBothUsers } from "../support/both-users.js";
import { ControlPlaneCaller } from "../support/control-plane-caller.js";
import { descendants, type HostProcess } from "../support/host-processes.js";
import {
  cannotStartAs,
  type LocalServer,
  type StartedBy,
  startLocalServer,
} from "../support/local-server.js";

const startedBy: readonly StartedBy[] = ["root", "an ordinary user"];

const args = (): string[] => ["--pool", "0", "--disk-mb", "64"];

describeForBothUsers("on a server started by %s", { args }, (on) => {
  const withStoppedBubblewrap = async (
    api: ControlPlaneCaller,
    server: LocalServer,
    state: "running" | "paused",
  ): Promise<{ readonly id: string; readonly machines: () => HostProcess[] }> => {
    const machines = (): HostProcess[] => descendants(server.pid).filter(isBubblewrap);
    expect(machines()).toEqual([]);
    const { id } = await api.create();
    if (state === "paused") await api.told("POST", `/sandboxes/${id}/pause`);
    const [bubblewrap] = machines();
    if (bubblewrap === undefined) throw new Error("The sandbox has no bubblewrap.");
    process.kill(bubblewrap.pid, "SIGSTOP");
    return { id, machines };
  };

  test.each([
    ["running", "deleted"],
    ["running", "stopped"],
    ["paused", "deleted"],
  ] as const)("a sandbox that is %s and whose bubblewrap is stopped is %s", async (state, end) => {
    const { api, server } = on;
    const { id, machines } = await withStoppedBubblewrap(api, server, state);
    if (end === "deleted") expect(await api.told("DELETE", `/sandboxes/${id}`)).toBe("200 deleted");
    else expect(await api.told("POST", `/sandboxes/${id}/stop`)).toBe("200 stopped");
    expect(machines()).toEqual([]);
  });

  test("a sandbox that is running and whose bubblewrap is stopped is ended with its server", async () => {
    const server = await startLocalServer({ who: on.who, args: args() });
    try {
      await withStoppedBubblewrap(new ControlPlaneCaller(server), server, "running");
    } finally {
      expect(await server.stop()).toEqual({ code: 0, signal: null });
    }
  });

  test("a stopped sandbox starts again though its code left pipes for files and a program that never ends", async () => {
    const { api } = on;
    const sandbox = await api.create();
    const places = ["resolv.conf", "svc.conf", "netsvc.conf", "localtime", "timezone", "host.conf"];
    const plant = `cd /etc; rm -f ${places.join(" ")}; mkfifo ${places.join(" ")}
mv /usr/share/zoneinfo /usr/share/before; mkdir -p /usr/share/zoneinfo && cd /usr/share/zoneinfo && mkfifo UTC UTC0 Universal made
mkdir -p ~/.local/bin; printf '#!/bin/sh\\nexec sleep 98765\\n' > ~/.local/bin/mkfifo; chmod 755 ~/.local/bin/mkfifo
cd /; find /etc /usr/share/zoneinfo -type p | wc -l`;
    const planted = (await api.run(sandbox, plant)).body;
    expect(Number(planted.stdout), String(planted.stderr)).toBeGreaterThan(places.length);
    expect(await api.told("POST", `/sandboxes/${sandbox.id}/stop`)).toBe("200 stopped");
    expect(await api.told("POST", `/sandboxes/${sandbox.id}/start`)).toBe("200 running");
    expect((await api.run(sandbox, "env | grep -c ^TZ")).body.stdout).toBe("0\n");
    await api.told("DELETE", `/sandboxes/${sandbox.id}`);
  });

  test("a sandbox with paths too long to be unpacked again is not stopped, and says why", async () => {
    const { api } = on;
    const sandbox = await api.create();
    const deep = `python3 - <<'END'
import os
os.chdir("/workspace")
for _ in range(300):
    os.mkdir("d" * 200); os.chdir("d" * 200)
END`;
    expect((await api.run(sandbox, deep)).body).toMatchObject({ exit_code: 0, stderr: "" });
    const { status, body } = await api.call("POST", `/sandboxes/${sandbox.id}/stop`);
    expect([status, body.message]).toEqual([
      409,
      expect.stringMatching(/longer than 4000 bytes; remove the file.* first\. Try again/),
    ]);
    expect((await api.run(sandbox, "rm -rf /workspace/d*")).body.exit_code).toBe(0);
    expect(await api.told("POST", `/sandboxes/${sandbox.id}/stop`)).toBe("200 stopped");
    expect(await api.told("POST", `/sandboxes/${sandbox.id}/start`)).toBe("200 running");
    await api.told("DELETE", `/sandboxes/${sandbox.id}`);
  });
});

// Run both cases at the same time: each waits for the server's limit of 31 s.
test.concurrent.for(startedBy)(
  "a stop that takes too long is broken off, at the expense of the sandbox, which goes on, on a server started by %s",
  async (who, { skip, expect }) => {
    const obstacle = cannotStartAs(who);
    skip(obstacle !== undefined, obstacle);
    const directory = await mkdtemp(join(tmpdir(), "slow-tar-"));
    await chmod(directory, 0o755);
    await writeFile(join(directory, "tar"), "#!/bin/sh\nexec sleep 98765\n", { mode: 0o755 });
    const env = { PATH: `${directory}:${process.env.PATH}` };
    const server = await startLocalServer({ who, env, args: ["--pool", "0", "--disk-mb", "16"] });
    const slow = (): HostProcess | undefined =>
      descendants(server.pid).find(({ commandLine }) => commandLine === "sleep 98765");
    try {
      const api = new ControlPlaneCaller(server);
      const sandbox = await api.create();
      const groups = (pid = 0): string[] =>
        readFileSync(`/proc/${pid}/cgroup`, "utf8").match(/(?<=:(memory|pids|cpu):).*cloud-sandbox.*/g) ?? [];
      const own = groups(descendants(server.pid).find(isBubblewrap)?.pid);
      const stopping = api.call("POST", `/sandboxes/${sandbox.id}/stop`);
      await expect.poll(slow).toBeDefined();
      expect(groups(slow()?.pid)).toEqual(own);
      const { status, body } = await stopping;
      expect([status, body.code, body.message]).toEqual([
        409,
        "CONFLICT",
        expect.stringContaining("took longer than 31 s"),
      ]);
      expect((await api.run(sandbox, "echo goes on")).body.stdout).toBe("goes on\n");
      expect(slow()).toBeUndefined();
    } finally {
      await server.stop();
      await rm(directory, { recursive: true });
    }
  },
);

test("what a killed server had paused is removed by the next one, where its guard was killed too", async ({
  skip,
}) => {
  const obstacle = cannotStartAs("root");
  skip(obstacle !== undefined, obstacle);
  const directory = await mkdtemp(join(tmpdir(), "guard-"));
  const start = () => startLocalServer({ args: ["--pool", "1", "--data-dir", directory] });
  const server = await start();
  const api = new ControlPlaneCaller(server);
  for (const sandbox of await Promise.all([api.create(), api.create()]))
    expect(await api.told("POST", `/sandboxes/${sandbox.id}/pause`)).toBe("200 paused");
  const guard = descendants(server.pid).find(({ commandLine }) =>
    commandLine.includes("cloud-sandbox-guard"),
  );
  process.kill(guard?.pid ?? 0, "SIGKILL");
  await server.stop("SIGKILL");
  const next = await start();
  await expect.poll(() => leftovers(new Set([server.pid]))).toEqual([]);
  await next.stop();
  await rm(directory, { recursive: true });
});

const isBubblewrap = ({ commandLine }: HostProcess): boolean => /^bwrap /.test(commandLine);
