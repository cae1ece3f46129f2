import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { promisify } from "node:util";
import { SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runBuilt } from "../support/built-program.js";
import { importBaseImage } from "../support/docker/base-image.js";
import { dockerEnvironment, startDockerServer, withoutDocker } from "../support/docker/docker-server.js";
import { startDaemon } from "../support/docker/own-daemon.js";
import { type LocalServer, startLocalServer } from "../support/local-server.js";

const obstacle = withoutDocker();
if (obstacle !== undefined) test("the docker runtime", ({ skip }) => skip(obstacle));
else {
  describe("a container", () => {
    let server: LocalServer;
    let client: SandboxClient;
    beforeAll(async () => {
      server = await startDockerServer({ args: ["--memory-mb", "256", "--pool", "0"] });
      client = clientOf(server);
    });
    afterAll(async () => {
      await client?.close();
      await server?.stop();
      expect(await containersOf(server)).toEqual([]);
    });

    test("has no network, no capability, no way to gain one, and a root that nobody can write", async () => {
      await using sandbox = await client.sandboxes.create({ template: "base" });
      const { stdout } = await sandbox.execute(
        `id -u; ls /sys/class/net; grep -E '^(Cap(Prm|Eff|Bnd|Amb)|NoNewPrivs|Seccomp):' /proc/self/status
touch /etc/passwd / /usr/bin/env /opt/cloud-sandbox/planted 2>&1 | grep -vc 'Read-only\\|Permission'
echo 2>/dev/null >> /etc/ld.so.preload || echo sealed; cat /proc/cmdline /proc/interrupts; ls -A /proc/fs`,
        { language: "bash" },
      );
      const none = "\t0000000000000000";
      expect(stdout.split("\n")).toEqual([
        ...["1000", "lo", `CapPrm:${none}`, `CapEff:${none}`, expect.stringMatching(/^CapBnd:\t0{14}c0$/)],
        ...[`CapAmb:${none}`, "NoNewPrivs:\t1", "Seccomp:\t2", "0", "sealed", ""],
      ]);
    });

    test("finds itself by the names localhost and sandbox", async () => {
      await using sandbox = await client.sandboxes.create({ template: "base" });
      const { value } = await sandbox.execute(
        "import socket; [socket.gethostbyname(name) for name in ('localhost', 'sandbox')]",
      );
      expect(value).toBe("['127.0.0.1', '127.0.0.1']");
      expect((await sandbox.commands.run("cat /etc/resolv.conf")).stdout).toBe("nameserver 127.0.0.1\n");
    });

    test("shows its daemon neither the sandbox's id nor variables", async () => {
      await using sandbox = await client.sandboxes.create({
        template: "base",
        env: { HIDDEN: "value-of-mine" },
      });
      const [id = ""] = await containersOf(server);
      const { stdout } = await docker("inspect", id);
      for (const text of ["value-of-mine", sandbox.id, server.apiKey]) expect(stdout).not.toContain(text);
      expect(JSON.parse(stdout)[0].HostConfig).toMatchObject({ Binds: null, NetworkMode: "none" });
    });

    test("that somebody freezes or thaws can still be paused and resumed", async () => {
      await using sandbox = await client.sandboxes.create({ template: "base" });
      const [id = ""] = await containersOf(server);
      await docker("pause", id);
      await sandbox.pause();
      await docker("unpause", id);
      await sandbox.resume();
      expect((await sandbox.execute("print(6 * 7)")).stdout).toBe("42\n");
    });

    test("that somebody removes is a sandbox that has ended, and others go on", async () => {
      const sandbox = await client.sandboxes.create({ template: "base" });
      const call = sandbox.execute("sleep 60", { language: "bash" });
      const outcome = expect(call).rejects.toThrow(/ended|exist|lost|gone|was cut/);
      for (const id of await containersOf(server)) await docker("rm", "--force", id);
      await outcome;
      expect((await client.executeIsolated("print(6 * 7)")).stdout).toBe("42\n");
    });

    test("that is removed while callers come and go does not end its server", async () => {
      const rounds = Array.from({ length: 3 }, async () => {
        for (let round = 0; round < 4; round += 1) {
          const sandbox = await client.sandboxes.create({ template: "base" });
          const leaving = new AbortController();
          const calls = Array.from({ length: 12 }, (_, index) =>
            sandbox
              .execute(index < 6 ? "sleep 60" : "yes | head -c 1000000", {
                language: "bash",
                signal: leaving.signal,
              })
              .catch(() => undefined),
          );
          await calls.at(-1);
          const removed = sandbox.delete();
          leaving.abort();
          await Promise.all([removed, ...calls]);
        }
      });
      await Promise.all(rounds);
      expect((await client.executeIsolated("print(6 * 7)")).stdout).toBe("42\n");
    });

    test("that runs out of memory says so", async () => {
      await using sandbox = await client.sandboxes.create({ template: "base" });
      const run = await sandbox.execute("x = bytearray(8 * 1024 ** 3)", { language: "python" });
      expect(run.exitCode).not.toBe(0);
      expect((await sandbox.execute("echo alive", { language: "bash" })).stdout).toBe("alive\n");
    });

    test("is not what templates are made of; the answer says how to name an image", async () => {
      const headers = { "x-api-key": server.apiKey, "content-type": "application/json" };
      const definition = {
        ...{ name: "mine", cpu: 1, memory: 512, diskGB: 1 },
        ...{ from_image: "base", steps: [{ type: "RUN", args: ["true"] }] },
      };
      const build = await fetch(`${server.url}/v1/templates/build`, {
        ...{ method: "POST", headers, body: JSON.stringify(definition) },
      });
      expect([build.status, await build.json()]).toEqual([
        400,
        expect.objectContaining({
          code: "TEMPLATES_UNAVAILABLE",
          message: expect.stringMatching(/"docker build".* --docker-image /),
        }),
      ]);
      const removal = await fetch(`${server.url}/v1/templates/base`, { method: "DELETE", headers });
      expect(removal.status).toBe(403);
      await expect(client.templates.import(Readable.from(["x"]), { name: "mine" })).rejects.toThrow(
        /This server makes no templates: .*"docker build"/,
      );
    });
  });

  describe("containers of a server that is killed", () => {
    // Servers of other tests look for them too, so which one says that it has removed them is left to chance.
    test("end with it; the next server removes one that was frozen, and nothing of others", async () => {
      const { CLOUD_SANDBOX_DOCKER_IMAGE: image = "" } = dockerEnvironment();
      const strangers = (
        await docker(
          "run",
          "--detach",
          "--network",
          "none",
          "--label",
          "dev.cloud-sandbox.process=1-1",
          image,
          "sleep",
          "600",
        )
      ).stdout.trim();
      try {
        const server = await startDockerServer({ args: ["--pool", "0"] });
        await using client = clientOf(server);
        const frozen = await client.sandboxes.create({ template: "base" });
        await frozen.pause();
        await client.sandboxes.create({ template: "base" });
        expect(await containersOf(server)).toHaveLength(2);
        await server.stop("SIGKILL");
        await expect.poll(() => containersOf(server, "running")).toHaveLength(0);

        const next = await startDockerServer({ args: ["--pool", "0"] });
        await expect.poll(() => containersOf(server)).toEqual([]);
        await next.stop();
        expect((await docker("inspect", "--format", "{{.State.Running}}", strangers)).stdout).toBe("true\n");
      } finally {
        await docker("rm", "--force", strangers);
      }
    });
  });

  describe("the agent in a container of this machine", { tags: ["root"] }, () => {
    test("answers while the daemon hangs", async () => {
      const daemon = await startDaemon();
      try {
        await importBaseImage(daemon.host);
        const server = await startDockerServer({ args: ["--pool", "0"], env: { DOCKER_HOST: daemon.host } });
        await using client = clientOf(server);
        const sandbox = await client.sandboxes.create({ template: "base" });
        await sandbox.execute("x = 41");
        const pid = Number(await readFile(join(daemon.directory, "pid"), "utf8"));
        process.kill(pid, "SIGSTOP");
        try {
          expect((await sandbox.execute("print(x + 1)")).stdout).toBe("42\n");
        } finally {
          process.kill(pid, "SIGCONT");
        }
        await sandbox.delete();
        await server.stop();
      } finally {
        await daemon.stop();
      }
    });

    test.each([
      ["its socket", "agent/socket", (path: string) => path],
      ["its directory", "agent", (path: string) => dirname(path)],
    ])("is not looked for where a link in place of %s leads", async (_, replaced, target) => {
      const server = await startDockerServer({ args: ["--pool", "0"] });
      const directory = await mkdtemp(join(tmpdir(), "cloud-sandbox-link-"));
      const taken: string[] = [];
      const listener = createServer((request, response) => {
        taken.push(request.url ?? "");
        response.end();
      });
      await once(listener.listen(join(directory, "socket")), "listening");
      try {
        await using client = clientOf(server);
        const sandbox = await client.sandboxes.create({ template: "base" });
        await sandbox.execute("1");
        const [id = ""] = await containersOf(server);
        const place = `/opt/cloud-sandbox/run/${replaced}`;
        const link = target(join(directory, "socket"));
        await docker("exec", id, "sh", "-c", `rm -rf ${place} && ln -s ${link} ${place}`);
        // One goes over the connection that is open, so that the others need new ones.
        const calls = [1, 2, 3].map(() => sandbox.execute("1"));
        await Promise.any(calls);
        await sandbox.delete();
        await Promise.allSettled(calls);
        expect(taken).toEqual([]);
      } finally {
        listener.close();
        await rm(directory, { recursive: true });
        await server.stop();
      }
    });
  });

  describe("a daemon that is killed", () => {
    test("ends the sandboxes with that reason, and a new one takes its place", async () => {
      const daemon = await startDaemon();
      try {
        await importBaseImage(daemon.host);
        const server = await startDockerServer({ args: ["--pool", "0"], env: { DOCKER_HOST: daemon.host } });
        await using client = clientOf(server);
        const sandbox = await client.sandboxes.create({ template: "base" });
        const call = sandbox.execute("sleep 600", { language: "bash" });
        const reason = /lost with the Docker daemon: no Docker daemon answers at/;
        // Which of them depends on how long it takes to find out that the daemon is gone.
        const lost = expect(call).rejects.toThrow(new RegExp(`${reason.source}|The connection .* was cut`));
        await expect
          .poll(async () => (await sandbox.execute("pgrep -c sleep", { language: "bash" })).stdout)
          .toBe("1\n");
        await daemon.kill();
        await lost;
        await expect.poll(() => sandbox.execute("1").catch((error: Error) => error.message)).toMatch(reason);
        await expect(client.sandboxes.create({ template: "base" })).rejects.toThrow(
          /no Docker daemon answers at/,
        );

        await daemon.restart();
        await expect
          .poll(async () => (await client.executeIsolated("print(6 * 7)").catch(() => undefined))?.stdout)
          .toBe("42\n");
        const left = ["--host", daemon.host, "ps", "--all", "--quiet"];
        await expect.poll(async () => (await exec("docker", left)).stdout).toBe("");
        await server.stop();
      } finally {
        await daemon.stop();
      }
    });
  });

  describe("images", () => {
    test("are templates of their names, with the languages that are in them", async () => {
      const { CLOUD_SANDBOX_DOCKER_IMAGE: first = "" } = dockerEnvironment();
      const second = "cloud-sandbox-second:1";
      await deriveImage(second, { change: "ENV MARK=second" });
      const args = ["--docker-image", first, "--docker-image", second, "--pool", "0"];
      const server = await startDockerServer({ args });
      const other = await startDockerServer({ args });
      try {
        await using client = clientOf(server);
        await using sandbox = await client.sandboxes.create({ template: second });
        expect((await sandbox.execute("echo $MARK", { language: "bash" })).stdout).toBe("second\n");
        const { description } = await client.templates.get(second);
        expect(description).toMatch(/bash 5.*javascript 2/);
        expect(description).not.toContain("go ");
        expect(await client.templates.forImage(second)).toMatchObject({ template: second, differences: [] });
        await expect(client.sandboxes.create({ template: "not-named:1" })).rejects.toThrow(/not-named:1/);

        // A server that starts later knows it at once, and leaves containers of servers that run alone.
        await using otherClient = clientOf(other);
        await (await otherClient.sandboxes.create({ template: second })).delete();
        expect((await sandbox.execute("echo $MARK", { language: "bash" })).stdout).toBe("second\n");
      } finally {
        await Promise.all([server.stop(), other.stop()]);
        await docker("rmi", "--force", second);
      }
    });

    test.each([
      ["no shell", async (name: string) => void (await docker("import", "/dev/null", name))],
      ["a shell that ends at once", (name: string) => deriveImage(name, { shell: "/usr/bin/true" })],
      [
        "a shell for another processor",
        async (name: string) => {
          const directory = await mkdtemp(join(tmpdir(), "other-processor-"));
          const shell = join(directory, "sh");
          // The head of a program of MIPS.
          const head = Buffer.from("7f454c460201010000000000000000000200080001000000", "hex");
          await writeFile(shell, Buffer.concat([head, Buffer.alloc(256)]), { mode: 0o755 });
          await deriveImage(name, { shell }).finally(() => rm(directory, { recursive: true }));
        },
      ],
    ])("with %s are refused, and nothing of them remains", async (_, make) => {
      const name = "cloud-sandbox-useless:1";
      await make(name);
      const server = await startDockerServer({ args: ["--docker-image", name, "--pool", "0"] });
      try {
        await using client = clientOf(server);
        await expect(client.sandboxes.create({ template: "base" })).rejects.toThrow(
          new RegExp(`The image ${name}, which is for .*, cannot be used`),
        );
        expect(await containersOf(server)).toEqual([]);
      } finally {
        await server.stop();
        await docker("rmi", "--force", name);
      }
    });
  });

  describe("where containers cannot be started", () => {
    test("because no daemon answers, serve and doctor say where, and what to do", async () => {
      const env = { PATH: process.env.PATH ?? "", DOCKER_HOST: "unix:///nowhere/docker.sock" };
      const reason = "no Docker daemon answers at unix:///nowhere/docker.sock (DOCKER_HOST)";
      const serve = await runBuilt("local", ["serve", "--runtime", "docker"], { env });
      expect(serve).toMatchObject({ code: 1, stdout: "" });
      expect(serve.stderr).toMatch(/^cloud-sandbox-local: .*\n$/);
      for (const part of [reason, "start Docker", "set DOCKER_HOST"]) expect(serve.stderr).toContain(part);
      expect((await runBuilt("local", ["doctor"], { env })).stdout).toContain(`✗ docker: ${reason}\n`);
    });

    test("because Podman answers, doctor says what it lacks", async () => {
      const directory = await mkdtemp(join(tmpdir(), "podman-"));
      const socket = join(directory, "podman.sock");
      // What `podman system service` of Podman 4.3 answers, as far as it matters.
      const podman = createServer(({ url }, response) => {
        const info = { OSType: "linux", Architecture: "amd64", ServerVersion: "4.3.1", NCPU: 2 };
        const version = { Version: "4.3.1", Components: [{ Name: "Podman Engine", Version: "4.3.1" }] };
        response.setHeader("content-type", "application/json");
        response.end(JSON.stringify(url?.endsWith("/info") ? info : version));
      }).listen(socket);
      await once(podman, "listening");
      try {
        const env = { PATH: process.env.PATH ?? "", DOCKER_HOST: `unix://${socket}` };
        const { stdout } = await runBuilt("local", ["doctor"], { env });
        expect(stdout).toMatch(/^✗ docker: Podman 4\.3\.1 answers there.*\n {2}To fix it: use Docker/m);
      } finally {
        podman.close();
        await rm(directory, { recursive: true });
      }
    });

    test.each([
      [
        "a runtime that the daemon lacks",
        "no-such",
        {},
        /no runtime named "no-such"; it has .*runc.*daemon\.json/,
      ],
      [
        "an image that is not there",
        "runc",
        { CLOUD_SANDBOX_DOCKER_IMAGE: "not-there:1" },
        /runc cannot be tried without the image not-there:1.*docker pull not-there:1/,
      ],
    ])("because of %s, serve says what mends it, also with auto", async (_, runtime, changed, message) => {
      const env = { PATH: process.env.PATH ?? "", ...dockerEnvironment(), ...changed };
      const serve = await runBuilt("local", ["serve", "--docker-runtime", runtime], { env });
      expect(serve).toMatchObject({ code: 1, stdout: "" });
      expect(serve.stderr).toMatch(message);
    });

    test("because the user may not use the socket, serve says what to do", async () => {
      await expect(startDockerServer({ who: "an ordinary user" })).rejects.toThrow(
        /may not use Docker's socket .*usermod -aG docker/,
      );
    });

    test("because there is no image, the create says how to name another", async () => {
      const missing = "127.0.0.1:1/no-such-image";
      const server = await startDockerServer({ args: ["--docker-image", missing, "--pool", "0"] });
      await using client = clientOf(server);
      await expect(client.sandboxes.create({ template: "base" })).rejects.toThrow(
        new RegExp(`does not have the image ${missing} and could not download it .*--docker-image`),
      );
      await server.stop();
    });
  });

  describe("the choice of a runtime", () => {
    test.each([
      ["docker, if an image is named", () => dockerEnvironment(), "container", ""],
      [
        "docker, if a runtime of the daemon is named, with the level that was found inside",
        () => ({ ...dockerEnvironment(), CLOUD_SANDBOX_DOCKER_RUNTIME: "runc" }),
        "container",
        "",
      ],
      [
        "bubblewrap, if none is",
        () => ({ DOCKER_HOST: dockerEnvironment().DOCKER_HOST ?? "" }),
        "namespace",
        "",
      ],
      [
        "bubblewrap, if the daemon does not answer, and says so",
        () => ({ ...dockerEnvironment(), DOCKER_HOST: "unix:///nowhere/docker.sock" }),
        "namespace",
        "docker is not used: no Docker daemon answers",
      ],
    ])("is %s", async (_, env, isolation, said) => {
      const server = await startLocalServer({ env: env(), args: ["--pool", "0"] });
      expect(server.isolation).toBe(isolation);
      expect(server.log()).toContain(said);
      await server.stop();
    });
  });
}

const clientOf = (server: LocalServer): SandboxClient =>
  new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });

const exec = promisify(execFile);

/** Makes an image of that of the tests. `shell`: a file that takes the place of its shell. */
async function deriveImage(
  name: string,
  { shell, change }: { shell?: string; change?: string },
): Promise<void> {
  const { CLOUD_SANDBOX_DOCKER_IMAGE: image = "" } = dockerEnvironment();
  const id = (await docker("create", image, "true")).stdout.trim();
  try {
    if (shell !== undefined) await docker("cp", shell, `${id}:/usr/bin/dash`);
    await docker("commit", ...(change === undefined ? [] : ["--change", change]), id, name);
  } finally {
    await docker("rm", id);
  }
}

function docker(...args: readonly string[]): Promise<{ stdout: string }> {
  return exec("docker", ["--host", dockerEnvironment().DOCKER_HOST ?? "", ...args]);
}

/** The containers of a server, also of one that has ended. Other tests use the same daemon. */
async function containersOf({ pid }: LocalServer, status?: "running" | "paused"): Promise<string[]> {
  const format = '{{.ID}} {{.Label "dev.cloud-sandbox.process"}}';
  const filter = status === undefined ? [] : ["--filter", `status=${status}`];
  const { stdout } = await docker("ps", "--all", ...filter, "--format", format);
  const lines = stdout.split("\n").map((line) => line.split(" "));
  return lines.flatMap(([id = "", owner = ""]) => (owner.startsWith(`${pid}-`) ? [id] : []));
}
