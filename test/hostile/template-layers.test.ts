import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { describeForBothUsers } from "../support/both-users.js";

const args = (host: string) => ["--pool", "0", "--disk-mb", "64", "--data-dir", join(host, "data")];

/** The files that a build leaves are copied on the host by the server's user. */
describeForBothUsers("hostile templates, built by a server that %s started", { args }, (on) => {
  test("cannot write to the host through a link that a later layer made a file", async () => {
    const { client, templates, place: host } = on;
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

  test("cannot leave what the server is unable to remove", async () => {
    const { templates, place: host } = on;
    // Its path is just short enough where it is copied from, and too long where it is copied to.
    const deep = `python3 -c '
import os
os.chdir("/var/lib")
for level in range(19): os.mkdir("d" * 200); os.chdir("d" * 200)
open("f" * 253, "w").close()
'`;
    for (const [index, command] of [deep, "mkdir -p closed/x; chmod 0 closed"].entries()) {
      const step = { type: "RUN", args: [command] };
      const built = await templates.build({ name: "lasting", update: index > 0, steps: [step] });
      expect(built, built.log).toMatchObject({ status: "active" });
    }
    expect((await templates.call("DELETE", "/v1/templates/lasting")).status).toBe(200);
    for (const name of ["linked", "replaced"]) await templates.call("DELETE", `/v1/templates/${name}`);
    expect(await templates.build({ name: "next", steps: [] })).toMatchObject({ status: "active" });
    await expect.poll(() => readdir(join(host, "data", "layers"))).toEqual([]);
  });

  test("cannot have files of the host removed", async () => {
    const { templates, place: host } = on;
    const settings = join(host, ".cloud-sandbox");
    await mkdir(settings);
    await chmod(settings, 0o777);
    // Try again and again, because the agent keeps files in /tmp and creates it again when it needs one.
    const replace = `until rm -rf /tmp && ln -sT ${host} /tmp; do :; done`;
    const built = await templates.build({
      name: "removing",
      steps: [{ type: "RUN", args: [replace] }],
    });
    expect(built, built.log).toMatchObject({ status: "active" });
    expect(existsSync(settings)).toBe(true);
  });
});
