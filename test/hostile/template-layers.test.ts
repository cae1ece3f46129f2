import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  cannotStartAs,
  type LocalServer,
  type StartedBy,
  startLocalServer,
} from "../support/local-server.js";
import { TemplateBuilding } from "../support/template-building.js";

const startedBy: readonly StartedBy[] = ["root", "an ordinary user"];

/** The files that a build leaves are copied on the host by the server's user. */
describe.each(startedBy)("hostile templates, built by a server that %s started", (who) => {
  const obstacle = cannotStartAs(who);
  let host: string;
  let server: LocalServer;
  let templates: TemplateBuilding;
  let client: SandboxClient;

  beforeAll(async () => {
    if (obstacle !== undefined) return;
    host = await mkdtemp(join(tmpdir(), "host-files-"));
    await chmod(host, 0o777);
    const args = ["--pool", "0", "--disk-mb", "64", "--data-dir", join(host, "data")];
    server = await startLocalServer({ who, args });
    templates = new TemplateBuilding(server);
    client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
  });

  afterAll(async () => {
    await client?.close();
    await server?.stop();
    if (host !== undefined) await rm(host, { recursive: true, force: true });
  });

  test("cannot write to the host through a link that a later layer made a file", async ({ skip }) => {
    skip(obstacle !== undefined, obstacle);
    const target = join(host, "target");
    await writeFile(target, "the host's");
    await chmod(target, 0o666);
    const { uid } = await stat(target);
    const run = (command: string) => ({ type: "RUN", args: [command] });
    await templates.build({
      name: "linked",
      steps: [run(`ln -s ${target} link; mkdir directory; touch gone`)],
    });
    const replaced = await templates.build({
      name: "replaced",
      from_image: "linked",
      steps: [run("rm -r link directory gone; echo replaced > link; echo replaced > directory")],
    });
    expect(replaced).toMatchObject({ status: "active" });
    const sandbox = await client.sandboxes.create({ template: "replaced" });
    const { stdout } = await sandbox.execute("cat link directory; ls", { language: "bash" });
    await sandbox.delete();
    expect(await readFile(target, "utf8")).toBe("the host's");
    expect((await stat(target)).uid).toBe(uid);
    expect(stdout).toBe("replaced\nreplaced\ndirectory\nlink\n");
  });

  test("cannot leave what the server is unable to remove", async ({ skip }) => {
    skip(obstacle !== undefined, obstacle);
    // Its path is just short enough where it is copied from, and too long where it is copied to.
    const deep = `python3 -c '
import os
os.chdir("/var/lib")
for level in range(19): os.mkdir("d" * 200); os.chdir("d" * 200)
open("f" * 253, "w").close()
'`;
    for (const command of [deep, "mkdir -p closed/x; chmod 0 closed"]) {
      const step = { type: "RUN", args: [command] };
      const built = await templates.build({ name: "lasting", update: true, steps: [step] });
      expect(built, built.log).toMatchObject({ status: "active" });
    }
    expect((await templates.call("DELETE", "/v1/templates/lasting")).status).toBe(200);
    for (const name of ["linked", "replaced"]) await templates.call("DELETE", `/v1/templates/${name}`);
    expect(await templates.build({ name: "next", steps: [] })).toMatchObject({ status: "active" });
    await expect.poll(() => readdir(join(host, "data", "layers"))).toEqual([]);
  });

  test("cannot have files of the host removed", async ({ skip }) => {
    skip(obstacle !== undefined, obstacle);
    const settings = join(host, ".cloud-sandbox");
    await mkdir(settings);
    await chmod(settings, 0o777);
    // The agent keeps files there too, and makes the directory anew when it needs one.
    const replace = `until rm -rf /tmp && ln -sT ${host} /tmp; do :; done`;
    const built = await templates.build({
      name: "removing",
      steps: [{ type: "RUN", args: [replace] }],
    });
    expect(built, built.log).toMatchObject({ status: "active" });
    expect(existsSync(settings)).toBe(true);
  });
});
