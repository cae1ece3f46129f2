import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { lstat, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runBuilt } from "../support/built-program.js";
import { ControlPlaneCaller } from "../support/control-plane-caller.js";
import { cannotStartAs, type LocalServer, startLocalServer } from "../support/local-server.js";
import { PackageRepository } from "../support/package-repository.js";
import { TemplateBuilding } from "../support/template-building.js";

const run = promisify(execFile);

describe("with root inside, a sandbox", { tags: ["root", "apt"] }, () => {
  let directory: string;
  let repository: PackageRepository;
  let server: LocalServer;
  let client: SandboxClient;
  let api: ControlPlaneCaller;
  let install: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "root-inside-"));
    repository = await PackageRepository.start(join(directory, "packages"));
    const data = join(directory, "data");
    server = await startLocalServer({
      args: [
        "--root-inside",
        "--pool",
        "0",
        "--data-dir",
        data,
        "--egress-allow-private",
        repository.address,
      ],
    });
    client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
    api = new ControlPlaneCaller(server);
    install = `set -e; ${repository.use}
export no_proxy= NO_PROXY=
apt-get update && apt-get install -y greeting`;
  });

  afterAll(async () => {
    await client?.close();
    if (server) expect(await server.stop()).toEqual({ code: 0, signal: null });
    repository?.close();
    if (directory) await rm(directory, { recursive: true, force: true });
  });

  test("writes to volumes as root and as other users", async () => {
    const volume = await client.volumes.create("of-root", { sizeMb: 16 });
    const write = "mkdir /data/d && echo x > /data/d/f && chown games:games /data/d/f";
    for (const command of [write, "stat -c '%U %u' /data/d/f /data/d && rm -r /data/d"]) {
      await using sandbox = await client.sandboxes.create({ mounts: { "/data": volume } });
      const { stdout, stderr } = await sandbox.commands.run(command);
      expect(`${stdout}${stderr}`).toBe(command === write ? "" : "games 5\nroot 0\n");
    }
    await client.volumes.delete("of-root");
  });

  test("installs packages with their users, directories and services' files", async () => {
    await using sandbox = await client.sandboxes.create({ template: "code-interpreter" });
    const installed = await sandbox.execute(install, { language: "bash", timeoutSeconds: 120 });
    expect(installed).toMatchObject({ exitCode: 0 });
    const { stdout } = await sandbox.execute(
      `greeting; stat -c '%U %a' /var/lib/greeting /usr/bin/greeting; su -s /bin/sh greeting -c 'id -un; touch /etc/x'
cat /usr/share/icons/hicolor/48x48/apps/greeting; apt-get remove -y greeting >/dev/null; ls /usr/bin/greeting 2>&1 | grep -c "No such"`,
      { language: "bash", timeoutSeconds: 60 },
    );
    expect(stdout).toBe("hello\ngreeting 750\nroot 755\ngreeting\nicon\n1\n");
    expect(existsSync("/usr/bin/greeting")).toBe(false);
  });

  test("gives files to users, becomes them, and replaces programs of its own /usr", {
    tags: ["procps"],
  }, async () => {
    await using sandbox = await client.sandboxes.create({ template: "code-interpreter" });
    const { stdout, stderr } = await sandbox.execute(
      `id -u; touch f && chown www-data:daemon f && stat -c '%U:%G' f
chown www-data /usr/bin/env && stat -c %U /usr/bin/env; useradd -m someone && su someone -c 'id -un; cat /etc/shadow; grep CapEff /proc/self/status'
python3 -m http.server 80 >/dev/null 2>&1 & server=$!; until (exec 3<>/dev/tcp/127.0.0.1/80) 2>/dev/null; do sleep 0.05; done; kill $server
su -s /bin/sh www-data -c 'exec sleep 600' >/dev/null 2>&1 & until pkill -u www-data sleep; do :; done; wait 2>/dev/null; echo stopped`,
      { language: "bash", timeoutSeconds: 60 },
    );
    expect(stdout).toBe("0\nwww-data:daemon\nwww-data\nsomeone\nCapEff:\t0000000000000000\nstopped\n");
    expect(stderr).toContain("cat: /etc/shadow: Permission denied\n");
    expect((await lstat("/usr/bin/env")).uid).toBe(0);
  });

  test("keeps owners and modes over stop and start", async () => {
    const sandbox = await api.create();
    const make = `useradd -m someone; mkdir /srv/private && echo text > /srv/private/file && chown -R someone /srv/private && chmod -R go= /srv/private
touch /workspace/w ~/h && chown someone /workspace/w ~/h`;
    const look = "stat -c '%U %a' /srv/private /srv/private/file /workspace/w ~/h; cat /srv/private/file";
    expect((await api.run(sandbox, make)).body).toMatchObject({ exit_code: 0 });
    const before = (await api.run(sandbox, look)).body;
    expect(before.stdout).toBe("someone 700\nsomeone 600\nsomeone 644\nsomeone 644\ntext\n");
    expect(await api.told("POST", `/sandboxes/${sandbox.id}/stop`)).toBe("200 stopped");
    expect(await api.told("POST", `/sandboxes/${sandbox.id}/start`)).toBe("200 running");
    expect((await api.run(sandbox, look)).body.stdout).toBe(before.stdout);
    await api.call("DELETE", `/sandboxes/${sandbox.id}`);
  });

  test("runs as the user that its template's build made, and USER named", async () => {
    const who = 'echo "$(id -u) $(whoami) $HOME $PWD"';
    const building = new TemplateBuilding(server);
    const steps = [
      { type: "RUN", args: ["useradd -m -u 1234 appuser && install -d -o appuser /app"] },
      { type: "USER", args: ["appuser"] },
      { type: "WORKDIR", args: ["/app"] },
      { type: "RUN", args: [`${who} > built; touch /workspace/of-build`] },
    ];
    const startCmd = `${who} > started`;
    const readyCmd = { type: "file", path: "/app/started", interval: 50 };
    const built = await building.build({ name: "with-user", steps, startCmd, readyCmd });
    expect(built.status, built.error_message).toBe("active");
    const sandbox = await client.sandboxes.create({ template: "with-user" });
    await sandbox.files.write("/workspace/written", "by the client");
    const { stdout } = await sandbox.commands.run(
      `cat built started; ${who}; stat -c %U built started /workspace/*`,
    );
    expect(stdout).toBe("1234 appuser /home/appuser /app\n".repeat(3) + "appuser\n".repeat(4));
    const code = await sandbox.execute("import os; print(os.getuid(), os.path.expanduser('~'))");
    expect(code.stdout).toBe("1234 /home/appuser\n");
    // The cached steps keep the user, who is none of the agent's.
    const more = [...steps, { type: "RUN", args: [`${who} > /app/more`] }];
    const again = await building.build({ name: "with-more", steps: more });
    expect(again.log).toContain("CACHED USER appuser");
    const other = await client.sandboxes.create({ template: "with-more" });
    expect((await other.commands.run("cat more")).stdout).toBe("1234 appuser /home/appuser /app\n");
    const asAgent = [
      { type: "RUN", args: ["echo bad:x:65535:65535::/tmp:/bin/sh >>/etc/passwd"] },
      { type: "USER", args: ["bad"] },
    ];
    const refused = await building.build({ name: "as-agent", steps: asAgent });
    expect(refused).toMatchObject({ status: "failed", error_message: expect.stringMatching(/no user bad/) });
    for (const one of [sandbox, other]) await one.delete();
    for (const name of ["with-user", "with-more", "as-agent"]) await client.templates.delete(name);
  });

  test("has what RUN apt-get install put into its template, and the host has no program with the set-uid bit", async () => {
    const steps = [
      { type: "RUN", args: [install] },
      {
        type: "RUN",
        args: [
          "cp /bin/true /usr/bin/planted && chown 65534:65534 /usr/bin/planted && chmod 6755 /usr/bin/planted",
        ],
      },
    ];
    const built = await new TemplateBuilding(server).build({ name: "greeting", steps });
    expect(built).toMatchObject({ status: "active" });
    const sandbox = await api.create({ template_name: "greeting" });
    const { body } = await api.run(
      sandbox,
      "greeting; stat -c '%U %a' /var/lib/greeting; su -s /bin/sh greeting -c 'echo more > /var/lib/greeting/file' && cat /var/lib/greeting/file; stat -c '%U %a' /usr/bin/planted",
    );
    expect(body.stdout).toBe("hello\ngreeting 750\nmore\nnobody 755\n");
    const planted = await run("find", [join(directory, "data"), "-perm", "/6000", "-type", "f"]);
    expect(planted.stdout).toBe("");
    await api.call("DELETE", `/sandboxes/${sandbox.id}`);
    await api.call("DELETE", "/templates/greeting");
    expect(await readdir(join(directory, "data", "layers"))).toEqual([]);
  });
});

test("serve --root-inside says what it needs", async () => {
  if (cannotStartAs("root") === undefined) {
    const docker = await runBuilt("local", ["serve", "--root-inside", "--runtime", "docker"]);
    expect(docker).toMatchObject({ code: 1, stdout: "" });
    expect(docker.stderr).toContain("--root-inside");
  }
  await expect(startLocalServer({ who: "an ordinary user", args: ["--root-inside"] })).rejects.toThrow(
    /start as root.*--root-inside/,
  );
});
