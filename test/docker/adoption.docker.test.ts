import { execFile } from "node:child_process";
import { readdirSync, readlinkSync } from "node:fs";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { importBaseImage } from "../support/docker/base-image.js";
import { startDockerServer, withoutDocker } from "../support/docker/docker-server.js";
import { type RunningDaemon, startDaemon } from "../support/docker/own-daemon.js";
import { hostProcesses } from "../support/host-processes.js";
import type { LocalServer } from "../support/local-server.js";

const bash = { language: "bash" } as const;
const run = promisify(execFile);

const obstacle = withoutDocker();
if (obstacle !== undefined) test("containers that outlive their server", ({ skip }) => skip(obstacle));
else {
  let directory: string;
  let daemon: RunningDaemon;
  /** A runtime of the daemon. */
  let dying: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "docker-adoption-"));
    dying = join(directory, "dying");
    daemon = await startDaemon({ "live-restore": true, runtimes: { dying: { path: dying } } });
    await importBaseImage(daemon.host);
  });
  afterAll(async () => {
    await daemon?.stop();
    await rm(directory, { recursive: true });
  });

  const start = (args: readonly string[]): Promise<LocalServer> =>
    startDockerServer({
      args: ["--pool", "0", ...args],
      env: { DOCKER_HOST: daemon.host },
    });
  const kept = (name: string): string[] => ["--data-dir", join(directory, name)];
  const docker = (...args: readonly string[]) => run("docker", ["--host", daemon.host, ...args]);
  const writeDying = async (script: string): Promise<void> => {
    await writeFile(dying, `#!/bin/sh\n${script}\n`);
    await chmod(dying, 0o755);
  };
  const shims = (): unknown =>
    hostProcesses().filter(
      ({ commandLine }) => /containerd-shim/.test(commandLine) && commandLine.includes(daemon.directory),
    );
  const containers = async (...filter: readonly string[]): Promise<string[]> =>
    (await docker("ps", "--all", "--quiet", ...filter)).stdout.split("\n").filter((id) => id !== "");

  describe("a sandbox goes on with the next server", () => {
    test.each([
      ["was killed", "SIGKILL", []],
      ["left it running", "SIGTERM", ["--leave-running"]],
    ] as const)("when the last one %s", async (_, signal, more) => {
      const args = [...kept(signal), ...more];
      let server = await start(args);
      try {
        const client = clientOf(server);
        const removed = await client.sandboxes.create({ template: "base" });
        const [container = ""] = await containers();
        const frozen = await client.sandboxes.create({ template: "base" });
        await frozen.execute("y = 1");
        await frozen.pause();
        const sandbox = await client.sandboxes.create({
          ...{ template: "base", env: { MARK: "kept" }, timeoutSeconds: 1234 },
        });
        const { expiresAt } = await client.sandboxes.get(sandbox.id);
        await sandbox.execute("x = 41");
        const job = await sandbox.executeBackground("sleep 5; echo $MARK", bash);
        await client.close();
        await server.stop(signal);
        await docker("rm", "--force", container);

        server = await start(args);
        expect(server.log()).toMatch(/^Sandboxes that have gone on without a server: 2\.$/m);
        await using next = clientOf(server);
        const same = await next.sandboxes.connect(sandbox.id);
        expect((await same.execute("print(x + 1)")).stdout).toBe("42\n");
        expect((await next.sandboxes.get(sandbox.id)).expiresAt).toEqual(expiresAt);
        expect((await same.processes.get(job.id).result()).stdout).toBe("kept\n");
        expect((await next.sandboxes.get(removed.id)).status).toBe("error");
        expect((await next.sandboxes.get(frozen.id)).status).toBe("paused");
        const thawed = await next.sandboxes.connect(frozen.id);
        await thawed.resume();
        expect((await thawed.execute("print(y + 1)")).stdout).toBe("2\n");

        // Once more, because the connection is of another kind now.
        await server.stop("SIGKILL");
        server = await start(args);
        await using last = clientOf(server);
        const again = await last.sandboxes.connect(sandbox.id);
        expect((await again.execute("print(x + 1)")).stdout).toBe("42\n");
        await again.files.write("/workspace/note", "kept");
        await again.stop();
        await again.start();
        expect(await again.files.readText("/workspace/note")).toBe("kept");

        // Its machine is another one after a restore.
        const snapshot = await again.snapshot();
        await again.files.write("/workspace/note", "changed");
        await again.restore(snapshot);
        await again.execute("x = 1");
        await server.stop("SIGKILL");
        server = await start(args);
        await using restored = clientOf(server);
        const back = await restored.sandboxes.connect(sandbox.id);
        expect(await back.files.readText("/workspace/note")).toBe("kept");
        expect((await back.execute("print(x)")).stdout).toBe("1\n");
        for await (const { id } of restored.sandboxes.list()) await restored.sandboxes.delete(id);
        await server.stop();
        expect(await containers()).toEqual([]);
      } finally {
        await server.stop("SIGKILL");
      }
    });

    test("and no other server takes or removes it meanwhile", async () => {
      const args = [...kept("one"), "--leave-running"];
      let server = await start(args);
      try {
        const client = clientOf(server);
        const sandbox = await client.sandboxes.create({ template: "base" });
        await sandbox.execute("x = 41");
        await sandbox.pause();
        await client.close();
        await server.stop("SIGKILL");
        for (const others of [kept("another"), []]) {
          const other = await start(others);
          await using otherClient = clientOf(other);
          await (await otherClient.sandboxes.create({ template: "base" })).delete();
          await other.stop();
        }
        // Left by one server, it can be left by the next one, frozen as it is.
        server = await start(args);
        await server.stop();
        server = await start(args);
        await using next = clientOf(server);
        const same = await next.sandboxes.connect(sandbox.id);
        await same.resume();
        expect((await same.execute("print(x + 1)")).stdout).toBe("42\n");
        await same.delete();
        await server.stop();
        expect(await containers()).toEqual([]);
      } finally {
        await server.stop("SIGKILL");
      }
    });
  });

  test("a sandbox whose server stays away ends, whatever its code does, and the next server says so", {
    timeout: 240_000,
  }, async () => {
    const args = kept("away");
    let server = await start(args);
    try {
      const client = clientOf(server);
      const sandbox = await client.sandboxes.create({ template: "base" });
      const channel = "/opt/cloud-sandbox/run/channel";
      const attempts = await sandbox.execute(
        `import os, socket
for attempt in (
    lambda: socket.socket(socket.AF_UNIX).connect("${channel}"),
    lambda: os.remove("${channel}"),
    lambda: open("/proc/1/environ").read(),
):
    try:
        print("done", attempt())
    except OSError as error:
        print(type(error).__name__)`,
      );
      expect(attempts.stdout).toBe("PermissionError\n".repeat(3));
      const hold = "trap '' TERM HUP INT; for n in 1 2 3 4; do (while :; do sleep 0.1; done) & done; wait";
      await sandbox.executeBackground(hold, bash);
      await client.close();
      await server.stop("SIGKILL");
      // It waits 60 s for a server.
      await expect
        .poll(() => containers("--filter", "status=running"), { timeout: 120_000, interval: 1000 })
        .toEqual([]);
      server = await start(args);
      await using next = clientOf(server);
      expect((await next.sandboxes.get(sandbox.id)).status).toBe("error");
      await expect.poll(server.log).toMatch(/^Containers that no server uses are removed: 1\.$/m);
      await server.stop();
      expect(await containers()).toEqual([]);
    } finally {
      await server.stop("SIGKILL");
    }
  });

  describe("a daemon that is killed", () => {
    test("and keeps its containers keeps the sandboxes too", async () => {
      const server = await start(kept("live"));
      try {
        await using client = clientOf(server);
        await using sandbox = await client.sandboxes.create({ template: "base" });
        await sandbox.execute("x = 41");
        await using frozen = await client.sandboxes.create({ template: "base" });
        await frozen.execute("y = 1");
        await frozen.pause();
        const sockets = (): number => socketsOf(server.pid);
        const call = sandbox.execute("touch begun; until [ -e go ]; do sleep 0.1; done; echo gone", bash);
        await expect.poll(async () => (await sandbox.execute("ls", bash)).stdout).toBe("begun\n");
        const before = sockets();
        await daemon.kill();
        await daemon.restart();
        await sandbox.execute("touch go", bash);
        expect((await call).stdout).toBe("gone\n");
        expect((await sandbox.execute("print(x + 1)")).stdout).toBe("42\n");
        // The way to the internet leads through the connection that was cut.
        const visit = "curl --silent --show-error http://10.1.2.3/ 2>&1";
        await expect
          .poll(async () => (await sandbox.execute(visit, bash)).stdout)
          .toContain("is not on the public internet");
        await frozen.resume();
        expect((await frozen.execute("print(y + 1)")).stdout).toBe("2\n");
        await expect.poll(sockets).toBeLessThanOrEqual(before);
      } finally {
        await server.stop();
      }
      expect(await containers()).toEqual([]);
    });

    test("and whose containerd waits for a program in a container can still remove that", async () => {
      // The next `docker exec`, by which the server connects anew, does not start.
      await writeDying(`for word; do [ "$word" = exec ] && while [ -e ${dying}-armed ]; do sleep 0.1; done; done
exec runc "$@"`);
      const server = await start([...kept("waits"), "--docker-runtime", "dying"]);
      try {
        await using client = clientOf(server);
        const sandbox = await client.sandboxes.create({ template: "base" });
        await writeFile(`${dying}-armed`, "");
        await daemon.kill();
        await daemon.restart();
        const isExec = ({ commandLine }: { commandLine: string }): boolean =>
          commandLine.includes(dying) && / exec /.test(commandLine);
        await expect.poll(() => hostProcesses().some(isExec)).toBe(true);
        await sandbox.delete();
        await expect.poll(() => containers()).toEqual([]);
        await expect.poll(shims).toEqual([]);
      } finally {
        await rm(`${dying}-armed`, { force: true });
        await server.stop();
      }
    });

    test.each(["create", "start"])(
      "while containerd does the %s of a container leaves none",
      async (step) => {
        await writeDying(`runc "$@"
code=$?
[ -e ${dying}-armed ] || exit $code
for word; do [ "$word" = ${step} ] && rm ${dying}-armed && kill -KILL "$(cat ${daemon.directory}/pid)"; done
exit $code`);
        const server = await start([...kept(step), "--docker-runtime", "dying"]);
        try {
          await using client = clientOf(server);
          await client.executeIsolated("print(6 * 7)");
          await writeFile(`${dying}-armed`, "");
          await expect(client.sandboxes.create({ template: "base" })).rejects.toThrow(/Docker/);
          await daemon.restart();
          await expect.poll(() => containers()).toEqual([]);
          await expect.poll(shims).toEqual([]);
          expect((await client.executeIsolated("print(6 * 7)")).stdout).toBe("42\n");
        } finally {
          await server.stop();
        }
      },
    );
  });
}

/** The number of sockets that a process has open. */
const socketsOf = (pid: number): number =>
  readdirSync(`/proc/${pid}/fd`).filter((descriptor) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${descriptor}`).startsWith("socket:");
    } catch {
      return false;
    }
  }).length;

const clientOf = ({ url, apiKey }: LocalServer): SandboxClient => new SandboxClient({ baseUrl: url, apiKey });
