import { expect, test } from "vitest";
import { describeForBothUsers } from "../support/both-users.js";
import { startLocalServer } from "../support/local-server.js";
import { archiveOf, TemplateBuilding } from "../support/template-building.js";

const args = () => ["--pool", "0", "--build-timeout", "60"];

describeForBothUsers("templates built on a server started by %s", { args }, (on) => {
  test("hold what every form of step did, wherever it wrote", async () => {
    const archive = await archiveOf({ "app/main.py": "print('copied')", "app/lib/a.txt": "a", "b.txt": "b" });
    const { hash, status } = await on.templates.upload(archive);
    expect(status).toBe(200);
    const built = await on.templates.build({
      name: "everything",
      from_image: "code-interpreter",
      startCmd: null,
      readyCmd: null,
      registry_credentials: null,
      steps: [
        { type: "COPY", args: ["app/", "/workspace/app"], filesHash: hash, permissions: "0755" },
        {
          type: "copy",
          args: ["b.txt,app/lib/*.txt", "/data/"],
          filesHash: hash,
          owner: "root",
          skipCache: false,
        },
        { type: "env", key: "GREETING", value: "hello" },
        { type: "ENV", args: ["NAME", "world"] },
        { type: "ENV", args: ["BOTH=$GREETING $" + "{NAME}"] },
        { type: "ENV", args: ["PATH=/opt/tools:$PATH"] },
        { type: "workdir", path: "/srv/app" },
        { type: "WORKDIR", args: ["inner"] },
        { type: "USER", args: ["root"] },
        {
          type: "RUN",
          args: [
            "echo \"$BOTH\" > here.txt && mkdir /opt/tools && printf '#!/bin/sh\\necho a tool\\n' > /opt/tools/tool && chmod +x /opt/tools/tool",
          ],
        },
        {
          type: "run",
          args: [
            "echo setting > /etc/example.conf; echo mine > ~/.profile-of-mine; echo t > /tmp/t; rm -rf /usr/local/bin && mkdir /usr/local/bin && echo only > /usr/local/bin/only",
          ],
        },
      ],
    });
    expect(built).toMatchObject({ status: "active" });

    const sandbox = await on.client.sandboxes.create({ template: "everything" });
    const { stdout, stderr } = await sandbox.execute(
      `python /workspace/app/main.py; cat /workspace/app/lib/a.txt /data/b.txt /data/a.txt; echo
stat -c %a /workspace/app/main.py; cat /srv/app/inner/here.txt /etc/example.conf ~/.profile-of-mine /tmp/t; ls -A /usr/local/bin
echo "$BOTH"; tool; ls -A /tmp /var/tmp | grep -v ^.cloud
echo more >> /etc/example.conf && echo more >> /workspace/app/main.py && echo more >> /data/b.txt && chmod 700 /workspace/app/main.py && echo writable`,
      { language: "bash" },
    );
    expect(stderr).toBe("");
    expect(stdout).toBe(
      "copied\naba\n755\nhello world\nsetting\nmine\nt\nonly\nhello world\na tool\n/tmp:\nt\n\n/var/tmp:\nwritable\n",
    );
    await sandbox.delete();

    const another = await on.client.sandboxes.create({ template: built.templateId });
    const untouched = await another.execute(
      "cat /etc/example.conf; df --output=size -BM /workspace | tail -1",
      { language: "bash" },
    );
    expect(untouched.stdout).toMatch(/^setting\n\s*1024M\n$/);
    await another.delete();
  });

  test("build on one another, and do not do again what was done", async () => {
    const first = [{ type: "RUN", args: ["date +%N > /stamp"] }];
    await on.templates.build({ name: "stamped", steps: first });
    const longer = await on.templates.build({
      name: "longer",
      steps: [...first, { type: "RUN", args: ["cp /stamp /copy"] }],
    });
    expect(longer.log).toContain("CACHED RUN date");
    const onTop = await on.templates.build({
      name: "on-top",
      from_image: "longer",
      steps: [{ type: "RUN", args: ["cmp /stamp /copy"] }],
    });
    expect(onTop.status).toBe("active");
    const again = await on.templates.build({ name: "again", steps: [{ ...first[0], skipCache: true }] });
    expect(again.log).not.toContain("CACHED");
  });

  test("start with their start command, once it is ready", { tags: ["curl"] }, async () => {
    const built = await on.templates.build({
      name: "serving",
      steps: [{ type: "RUN", args: ["mkdir -p /srv/site && echo served > /srv/site/index.html"] }],
      startCmd: "cd /srv/site && exec python3 -m http.server 8099",
      readyCmd: { type: "port", port: 8099, timeout: 24_000, interval: 50 },
    });
    expect(built.status).toBe("active");
    const sandbox = await on.client.sandboxes.create({ template: "serving" });
    const { stdout } = await sandbox.execute("curl -s http://127.0.0.1:8099/", { language: "bash" });
    expect(stdout).toBe("served\n");
    await sandbox.delete();
  });

  test.for([
    ["useradd", "useradd -ms /bin/bash appuser"],
    ["adduser", "adduser --disabled-password --gecos '' appuser"],
    ["groupadd", "groupadd -r appuser && useradd -r -g appuser --home-dir /home/appuser -m appuser"],
  ])("run as the user that %s made, with its home", async ([name, command]) => {
    const who = 'echo "$(whoami) $HOME $USER $PWD"';
    const built = await on.templates.build({
      name: `user-of-${name}`,
      steps: [
        { type: "RUN", args: [`${command} && mkdir /app && chown -R appuser:appuser /app`] },
        { type: "USER", args: ["appuser:appuser"] },
        { type: "WORKDIR", args: ["/app"] },
        { type: "RUN", args: [`${who} > built`] },
      ],
      startCmd: `${who} > started`,
      readyCmd: { type: "file", path: "/app/started", interval: 50 },
    });
    expect(built.status, built.error_message).toBe("active");
    await using sandbox = await on.client.sandboxes.create({ template: built.templateId });
    const { stdout } = await sandbox.commands.run(`cat built started; ${who}; ls -ld ~ | cut -c 1`);
    expect(stdout).toBe(`${"appuser /home/appuser appuser /app\n".repeat(3)}d\n`);
    const again = await on.templates.build({
      name: `user-on-${name}`,
      from_image: built.templateId,
      steps: [
        { type: "USER", args: ["root"] },
        { type: "RUN", args: ["echo $HOME >/app/root"] },
      ],
    });
    expect(again.status, again.log).toBe("active");
  });

  const serves = "python -m http.server 8098";
  test.for([
    ["as it was typed", "python", serves, "active"],
    ["without its version", "python3", serves, "active"],
    ["of a script", "a-script-with-a-long-name", "/srv/a-script-with-a-long-name", "active"],
    ["that it has given itself", "own-name", "bash -c 'exec -a own-name sleep 1000'", "active"],
    ["that only begins like it", "pyth", serves, "failed"],
    ["of the agent's own interpreter alone", "python3", "true", "failed"],
  ] as const)("are ready when a process has the name %s", async ([what, name, startCmd, status]) => {
    const script = "printf '#!/bin/sh\\nsleep 1000; :\\n' > /srv/a-script-with-a-long-name";
    const built = await on.templates.build({
      name: what.replace(/\W/g, "-"),
      steps: [{ type: "RUN", args: [`mkdir -p /srv; ${script}; chmod +x /srv/*`] }],
      startCmd,
      readyCmd: { type: "process", name, timeout: status === "active" ? 30_000 : 1000, interval: 50 },
    });
    expect(built.status, built.error_message).toBe(status);
  });

  test("are tried out as sandboxes start, without internet access", { tags: ["curl"] }, async () => {
    const built = await on.templates.build({
      name: "offline",
      steps: [],
      startCmd: 'curl -s --noproxy "" -x http://127.0.0.1:3128 http://192.0.2.1/ >/var/tmp/answer',
      readyCmd: { type: "command", command: "grep -q 'no internet access' /var/tmp/answer" },
    });
    expect(built.status, built.log).toBe("active");
  });

  test("that do not get ready in a sandbox say so, and that to try again is no use", async () => {
    // A ready check that passes with the memory of a build, and fails with the 256 MiB of the sandbox below.
    const enough = 'test "$(ulimit -d)" -gt 400000';
    const readyCmd = { type: "command", command: enough, timeout: 300, interval: 50 };
    const built = await on.templates.build({ name: "large", steps: [], readyCmd });
    expect(built.status, built.log).toBe("active");
    const create = { template_name: "large", limits: { memory_mb: 256 } };
    const { status, json } = await on.templates.call("POST", "/v1/sandboxes", create);
    expect([status, json.code]).toEqual([409, "CONFLICT"]);
    expect(json.message).toMatch(/template large do not become ready: The ready check .* did not pass/);
  });

  test.for([
    [
      "a step fails",
      { steps: [{ type: "RUN", args: ["echo because >&2; exit 3"] }] },
      /Step 1\/1: RUN .* failed: exit code 3\./,
    ],
    [
      "what it starts never gets ready",
      {
        steps: [],
        startCmd: "echo sorry",
        readyCmd: { type: "file", path: "/never", timeout: 5000, interval: 50 },
      },
      /ready check \(file \/never\).*sorry/,
    ],
    [
      "it names a user that nobody made",
      { steps: [{ type: "USER", args: ["nobody-made"] }] },
      /USER nobody-made failed: there is no user nobody-made; create it in an earlier step/,
    ],
    [
      "its files are too many for its disk",
      { steps: [{ type: "RUN", args: ["dd if=/dev/zero of=/data bs=1M count=3000"] }] },
      /exit code 1/,
    ],
  ] as const)("fail with the reason when %s", { timeout: 120_000 }, async ([name, request, reason]) => {
    const built = await on.templates.build({ name, ...request });
    expect(built.status).toBe("failed");
    expect(built.error_message).toMatch(reason);
    const create = await on.templates.call("POST", "/v1/sandboxes", { template_name: name });
    expect(create.status).toBe(409);
  });

  test("fail with the reason when a step never ends", async () => {
    const impatient = await startLocalServer({ who: on.who, args: ["--pool", "0", "--build-timeout", "3"] });
    try {
      const steps = [{ type: "RUN", args: ["sleep 1000"] }];
      const built = await new TemplateBuilding(impatient).build({ name: "endless", steps });
      expect(built.status).toBe("failed");
      expect(built.error_message).toMatch(/longer than its limit of 3 s/);
    } finally {
      await impatient.stop();
    }
  });

  test("take an archive whose names begin with the way to it, as the vendor's builder makes them", async () => {
    const { hash } = await on.templates.upload(
      await archiveOf({ x: "x" }, ["--transform=s,^\\./x,../../../../srv/site/x,", "./x"]),
    );
    const built = await on.templates.build({
      name: `leading-${hash.slice(0, 8)}`,
      steps: [
        { type: "COPY", args: ["../../../../srv/site", "/app"], filesHash: hash },
        { type: "RUN", args: ["cat /app/x"] },
      ],
    });
    expect(built.status, built.log).toBe("active");
  });

  test.for([
    ["names that lead out", ["--transform=s,^\\./x,a/../../../etc/x,", "./x"], "failed"],
    [
      "names that lead out by a link",
      ["--transform=s,^\\./x,self/../../../etc/x,", "/proc/self", "./x"],
      "failed",
    ],
    ["absolute names", ["--transform=s,^\\./x,/etc/x,", "./x"], "failed"],
    ["devices", ["/dev/null", "./x"], "failed"],
    ["links to elsewhere", ["/proc/self/exe", "./x"], "active"],
  ] as const)("keep the host safe from an archive with %s", async ([, tarArguments, status]) => {
    const { hash } = await on.templates.upload(await archiveOf({ x: "x" }, tarArguments));
    const built = await on.templates.build({
      name: `archive-${hash.slice(0, 8)}`,
      steps: [{ type: "COPY", args: ["x", "/workspace/"], filesHash: hash }],
    });
    expect(built.status, built.log).toBe(status);
  });
});
