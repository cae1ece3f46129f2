import { execFile } from "node:child_process";
import { chown, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { type Sandbox, SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hostMountStatements, rootMountStatements } from "../sandboxes/host-mount-statements.js";
import { volumeStatements } from "../sandboxes/volume-statements.js";
import { runBuilt } from "../support/built-program.js";
import { importBaseImage } from "../support/docker/base-image.js";
import {
  dockerEnvironment,
  startDockerServer,
  withoutDocker,
  withoutGvisor,
} from "../support/docker/docker-server.js";
import { type RunningDaemon, startDaemon } from "../support/docker/own-daemon.js";
import type { LocalServer } from "../support/local-server.js";
import { ordinaryUid } from "../support/ordinary-user-caches.js";

const run = promisify(execFile);
const bash = { language: "bash" } as const;
const rounds = Number(process.env.CRASH_ROUNDS ?? 4);
const said = async (sandbox: Sandbox, command: string): Promise<string> => {
  const { stdout, stderr } = await sandbox.commands.run(command);
  return `${stdout}${stderr}`.trim();
};
const clientOf = ({ url, apiKey }: LocalServer): SandboxClient => new SandboxClient({ baseUrl: url, apiKey });
const loopDevices = async (): Promise<string> => (await run("losetup", ["--list"])).stdout;

const obstacle = withoutDocker();
if (obstacle !== undefined) test("mounts in containers", ({ skip }) => skip(obstacle));
else {
  const start = (args: readonly string[]): Promise<LocalServer> => startDockerServer({ args });

  describe("a volume in a container", () => {
    volumeStatements({ start, refusesLink: /tar: workspace\/a: Cannot open: File exists/ });
  });

  describe("a directory of the machine in a container", () => {
    hostMountStatements(start);
    rootMountStatements(start);
  });

  describe("mounts of a container", () => {
    let directory: string;
    let repo: string;
    let daemon: RunningDaemon;
    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), "docker-mounts-"));
      repo = await mkdtemp(join(tmpdir(), "docker-mounts-repo-"));
      await chown(repo, ordinaryUid, ordinaryUid);
      daemon = await startDaemon({ "live-restore": true });
      await importBaseImage(daemon.host);
    });
    afterAll(async () => {
      await daemon?.stop();
      await rm(directory, { recursive: true });
      await rm(repo, { recursive: true });
    });
    const startOwn = (name: string, ...args: readonly string[]): Promise<LocalServer> =>
      startDockerServer({
        args: ["--pool", "0", "--data-dir", join(directory, name), "--allow-mount", repo, ...args],
        env: { DOCKER_HOST: daemon.host },
      });
    const docker = (...args: readonly string[]) => run("docker", ["--host", daemon.host, ...args]);

    test("outlive a server and a daemon that are killed, and end with the sandbox", async () => {
      let server = await startOwn("outlive");
      try {
        const client = clientOf(server);
        const volume = await client.volumes.create("cache", { sizeMb: 16 });
        const { id } = await client.sandboxes.create({
          ...{ template: "base", mounts: { "/mnt/cache": volume, "/workspace/repo": { host: repo } } },
        });
        await client.close();
        await server.stop("SIGKILL");
        server = await startOwn("outlive");
        await using next = clientOf(server);
        const sandbox = await next.sandboxes.connect(id);
        expect(await said(sandbox, "echo one > /mnt/cache/file; echo one > repo/file")).toBe("");
        await expect(next.volumes.delete("cache")).rejects.toMatchObject({ code: "VOLUME_IN_USE" });
        await daemon.kill();
        await daemon.restart();
        expect(await said(sandbox, "echo two >> /mnt/cache/file; cat /mnt/cache/file repo/file")).toBe(
          "one\ntwo\none",
        );
        // A device for each would destroy the volume.
        await using other = await next.sandboxes.create({ template: "base", mounts: { "/data": volume } });
        expect(await said(other, "cat /data/file")).toBe("one\ntwo");
        expect((await loopDevices()).split(volume.id)).toHaveLength(2);
        await sandbox.delete();
        await other.delete();
        await next.volumes.delete("cache");
        await expect.poll(loopDevices).not.toContain(volume.id);
        expect(await readFile(join(repo, "file"), "utf8")).toBe("one\n");
      } finally {
        await server.stop();
      }
      expect((await docker("ps", "--all", "--quiet")).stdout).toBe("");
    });

    test("are seen by nobody else: not by the host, and not in what Docker tells", async () => {
      const server = await startOwn("seen");
      try {
        await using client = clientOf(server);
        const volume = await client.volumes.create("unseen", { sizeMb: 16 });
        await using sandbox = await client.sandboxes.create({
          ...{ template: "base", mounts: { "/data": volume, "/workspace": { host: repo, readOnly: true } } },
        });
        const inside = await said(sandbox, "cat /proc/self/mountinfo");
        expect(inside).toMatch(/ \/data rw,nosuid,nodev,relatime.* - ext4 /);
        expect(inside).toMatch(/ \/workspace ro,nosuid,nodev/);
        const [device = ""] = / \/data .* - ext4 (\S+)/.exec(inside)?.slice(1) ?? [];
        expect(device).toMatch(/^\/dev\/loop/);
        expect(await readFile("/proc/self/mountinfo", "utf8")).not.toContain(device);
        const [{ Id: id = "" } = {}] = JSON.parse(
          (await docker("ps", "--no-trunc", "--format", '[{"Id":"{{.ID}}"}]')).stdout,
        ) as { Id?: string }[];
        const told = (await docker("inspect", id)).stdout;
        for (const text of [repo, volume.id, device]) expect(told).not.toContain(text);
        await sandbox.delete();
        await client.volumes.delete("unseen");
      } finally {
        await server.stop();
      }
    });

    // Many rounds: CRASH_ROUNDS=50 npx vitest run test/docker/mounts.docker.test.ts -t moment
    test(`of a server that is killed ${rounds} times at any moment leave no device, and a whole volume`, {
      timeout: 120_000 + rounds * 30_000,
    }, async () => {
      let server = await startOwn("killed");
      const volume = await clientOf(server).volumes.create("killed", { sizeMb: 16 });
      const mounts = { "/data": volume, "/workspace/repo": { host: repo } };
      let written = 0;
      try {
        for (let round = 0; round < rounds; round += 1) {
          const client = clientOf(server);
          // 1: a sandbox was created. 2: it has written.
          let progress = 0;
          const using = async (): Promise<void> => {
            for (let attempt = 0; attempt < 3; attempt += 1) {
              const sandbox = await client.sandboxes.create({ template: "base", mounts });
              progress = Math.max(progress, 1);
              await sandbox.execute("for n in $(seq 50); do echo $n > /data/$RANDOM; done", bash);
              progress = 2;
              written += 1;
              if (Math.random() < 0.7) await sandbox.delete();
            }
          };
          const users = [using(), using()].map((user) => user.catch(() => undefined));
          await expect.poll(() => progress, { timeout: 90_000 }).toBeGreaterThanOrEqual(round % 3);
          await sleep(Math.random() * 1000);
          const killed = server.stop("SIGKILL");
          if (round % 2 === 1) {
            await daemon.kill();
            await daemon.restart();
          }
          await killed;
          await client.close();
          await Promise.all(users);
          server = await startOwn("killed");
        }
        await using client = clientOf(server);
        for await (const { id } of client.sandboxes.list()) await client.sandboxes.delete(id);
        await expect.poll(async () => (await docker("ps", "--all", "--quiet")).stdout).toBe("");
        await expect.poll(loopDevices).not.toContain(volume.id);
        const image = join(directory, "killed/volumes", `${volume.id}.ext4`);
        expect((await run("e2fsck", ["-fn", image], { env: { PATH: "/usr/sbin:/sbin" } })).stdout).toContain(
          "Pass 5",
        );
        await client.volumes.delete(volume.id);
        expect(written).toBeGreaterThan(0);
      } finally {
        await server.stop();
      }
    });

    test("end with a container that somebody removes", async () => {
      const server = await startOwn("removed");
      try {
        await using client = clientOf(server);
        const volume = await client.volumes.create("removed", { sizeMb: 16 });
        const sandbox = await client.sandboxes.create({ template: "base", mounts: { "/data": volume } });
        const [id = ""] = (await docker("ps", "--quiet")).stdout.split("\n");
        await docker("rm", "--force", id);
        await expect.poll(loopDevices).not.toContain(volume.id);
        await expect.poll(async () => (await client.sandboxes.get(sandbox.id)).status).toBe("error");
        await sandbox.delete();
        await client.volumes.delete("removed");
      } finally {
        await server.stop();
      }
    });

    test("are at all places, and are no part of the files that a stopped sandbox keeps", async () => {
      const server = await startOwn("stopped");
      try {
        await using client = clientOf(server);
        await writeFile(join(repo, "of-the-host"), "x");
        const places = ["/data", "/workspace/a/b", "/home/sandbox/.cache", "/opt/tools"];
        const mounts = Object.fromEntries(
          await Promise.all(
            places.map(async (place, index) => {
              const volume = await client.volumes.create(`place-${index}`, { sizeMb: 16 });
              return [place, { volume: volume.id }] as const;
            }),
          ),
        );
        await using sandbox = await client.sandboxes.create({
          ...{ template: "base", mounts: { ...mounts, "/workspace/repo": { host: repo, readOnly: true } } },
        });
        for (const place of places) expect(await said(sandbox, `echo 1 > ${place}/file`)).toBe("");
        expect(await said(sandbox, "stat -c %U a a/b . ~/.cache | uniq; touch own")).toBe("sandbox");
        await sandbox.files.write("/workspace/a/b/by-the-agent", "written");
        expect(await sandbox.files.readText("/workspace/repo/of-the-host")).toBe("x");
        await sandbox.stop();
        const [saved = ""] = (
          await run("find", [join(directory, "stopped/files"), "-type", "f"])
        ).stdout.split("\n");
        const packed = (await run("tar", ["--list", "--file", saved])).stdout.trim().split("\n");
        expect(packed).toContain("workspace/own");
        expect(packed.filter((path) => /file|of-the-host|by-the-agent|\.cache/.test(path))).toEqual([]);
        await sandbox.start();
        for (const place of places) expect(await said(sandbox, `cat ${place}/file`)).toBe("1");
        expect(await said(sandbox, "ls; cat a/b/by-the-agent")).toBe("a\nown\nrepo\nwritten");
        await sandbox.delete();
        for (const index of places.keys()) await client.volumes.delete(`place-${index}`);
      } finally {
        await server.stop();
      }
    });

    test("at /workspace itself are not packed either", async () => {
      const server = await startOwn("workspace");
      try {
        await using client = clientOf(server);
        const volume = await client.volumes.create("workspace", { sizeMb: 16 });
        await using sandbox = await client.sandboxes.create({
          ...{ template: "base", mounts: { "/workspace": volume } },
        });
        await sandbox.files.write("/workspace/note", "first");
        await sandbox.stop();
        await client.sandboxes
          .create({ template: "base", mounts: { "/data": volume } })
          .then(async (other) => {
            await said(other, "echo second > /data/note");
            await other.delete();
          });
        await sandbox.start();
        expect(await sandbox.files.readText("/workspace/note")).toBe("second\n");
        await sandbox.delete();
        await client.volumes.delete("workspace");
      } finally {
        await server.stop();
      }
    });
  });

  test("a server that cannot mount in containers says why, and what to do", async () => {
    const ordinary = await runBuilt("local", ["serve", "--runtime", "docker", "--allow-mount", "/tmp"], {
      env: { ...dockerEnvironment(), CLOUD_SANDBOX_DOCKER_RUNTIME: "runc" },
    });
    expect(ordinary.code).toBe(1);
    expect(ordinary.stderr).toMatch(
      /"\/tmp" cannot be mounted in sandboxes: containers of the runtime runc .*leave --docker-runtime out/,
    );
  });

  const withoutRunsc = withoutGvisor();
  test("gVisor's containers have no volumes, and say so", async ({ skip }) => {
    skip(withoutRunsc !== undefined, withoutRunsc);
    const server = await startDockerServer({ args: ["--pool", "0", "--docker-runtime", "runsc"] });
    try {
      await using client = clientOf(server);
      await expect(client.volumes.create("cache")).rejects.toMatchObject({
        code: "VOLUMES_UNAVAILABLE",
        message: expect.stringContaining("leave --docker-runtime out"),
      });
    } finally {
      await server.stop();
    }
  });
}
