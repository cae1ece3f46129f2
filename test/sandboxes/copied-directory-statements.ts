import {
  chmod,
  chown,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type AppliedChange, type Sandbox, SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { LocalServer } from "../support/local-server.js";
import { ordinaryUid } from "../support/ordinary-user-caches.js";

type Start = (args: readonly string[]) => Promise<LocalServer>;

/** What holds for directories of the machine that sandboxes have a copy of. */
export function copiedDirectoryStatements(start: Start): void {
  let place: string;
  let repo: string;
  let server: LocalServer;
  let client: SandboxClient;

  const owner = process.getuid?.() === 0 ? ordinaryUid : (process.getuid?.() ?? 0);
  const give = async (path: string): Promise<void> => {
    if (process.getuid?.() === 0) await chown(path, owner, owner);
  };
  const makeDirectory = async (path: string): Promise<void> => {
    await mkdir(path, { mode: 0o755 });
    await give(path);
  };
  const write = async (path: string, content: string, mode = 0o644): Promise<void> => {
    await writeFile(join(repo, path), content);
    await chmod(join(repo, path), mode);
    await give(join(repo, path));
  };
  const create = (): Promise<Sandbox> =>
    client.sandboxes.create({ template: "base", mounts: { "/repo": { host: repo, mode: "copy" } } });
  const run = async (sandbox: Sandbox, command: string): Promise<void> => {
    const { exitCode, stderr } = await sandbox.commands.run(command, { workdir: "/repo" });
    expect({ command, exitCode, stderr }).toEqual({ command, exitCode: 0, stderr: "" });
  };
  const read = (path: string): Promise<string> => readFile(join(repo, path), "utf8");
  const names = async (path = "."): Promise<string[]> => (await readdir(join(repo, path))).sort();
  const outcomes = (applied: readonly AppliedChange[]): Record<string, string> =>
    Object.fromEntries(applied.map(({ path, status }) => [path.replace("/repo/", ""), status]));

  beforeAll(async () => {
    place = await mkdtemp(join(tmpdir(), "copied-directories-"));
    await chmod(place, 0o755);
    await give(place);
    repo = join(place, "repo");
    server = await start(["--pool", "0", "--allow-mount", place]);
    client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
  });
  beforeEach(async () => {
    await rm(repo, { recursive: true, force: true });
    await makeDirectory(repo);
    await write("kept.txt", "kept\n");
    await write("edited.txt", "one\ntwo\nthree\n", 0o640);
    await write("removed.txt", "removed\n");
    await write("script", "#!/bin/sh\n");
    await makeDirectory(join(repo, "old"));
    await write("old/a", "a\n");
    await write("old/b", "b\n");
  });
  afterAll(async () => {
    await client?.close();
    await server?.stop();
    if (place !== undefined) await rm(place, { recursive: true, force: true });
  });

  describe("a change", () => {
    test("stays in the sandbox, is listed, shown and applied, and applying it again changes nothing", async () => {
      await using sandbox = await create();
      await run(sandbox, "printf 'one\\n2\\nthree\\n' > edited.txt; rm removed.txt; chmod 755 script");
      await run(sandbox, "rm -r old; mkdir -p new/deep; echo new > new/deep/file; ln -s deep new/link");
      await run(sandbox, "touch kept.txt; echo '{}' > package.json; mkdir .git; echo x > .git/config");
      expect(await names()).toEqual(["edited.txt", "kept.txt", "old", "removed.txt", "script"]);
      expect(await read("edited.txt")).toBe("one\ntwo\nthree\n");
      const changes = await sandbox.changes({ since: "/repo" });
      const seen = changes.map(({ path, kind, type, runs, versionControl, entries }) =>
        [path, kind, type, runs && "runs", versionControl && "version control", entries]
          .filter((fact) => fact !== undefined && fact !== false)
          .join(" "),
      );
      expect(seen).toEqual([
        "/repo/.git added directory version control",
        "/repo/.git/config added file version control",
        "/repo/edited.txt changed file",
        "/repo/new added directory",
        "/repo/new/deep added directory",
        "/repo/new/deep/file added file",
        "/repo/new/link added link",
        "/repo/old removed directory 2",
        "/repo/package.json added file runs",
        "/repo/removed.txt removed file",
        "/repo/script mode file",
      ]);
      expect(await sandbox.diff("/repo/edited.txt")).toEqual({
        diff: "--- a/edited.txt\n+++ b/edited.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n",
        omitted: undefined,
      });
      expect((await sandbox.diff("/repo/new/deep/file")).diff).toContain(
        "--- /dev/null\n+++ b/new/deep/file\n",
      );
      const checked = await sandbox.apply({ paths: changes, check: true });
      expect(await names()).toEqual(["edited.txt", "kept.txt", "old", "removed.txt", "script"]);
      const applied = await sandbox.apply({ paths: changes });
      expect(outcomes(applied)).toEqual(outcomes(checked));
      expect(outcomes(applied)).toEqual({
        ".git": "refused",
        ".git/config": "refused",
        ...Object.fromEntries(changes.slice(2).map(({ path }) => [path.slice("/repo/".length), "applied"])),
      });
      expect(await names()).toEqual(["edited.txt", "kept.txt", "new", "package.json", "script"]);
      expect(await read("edited.txt")).toBe("one\n2\nthree\n");
      expect(await readlink(join(repo, "new/link"))).toBe("deep");
      const modes = await Promise.all(
        ["edited.txt", "script", "new/deep/file"].map(async (path) => {
          const { mode, uid } = await stat(join(repo, path));
          return [(mode & 0o7777).toString(8), uid];
        }),
      );
      expect(modes).toEqual([
        ["640", owner],
        ["755", owner],
        ["644", owner],
      ]);
      expect((await sandbox.changes()).map(({ path }) => path)).toEqual(["/repo/.git", "/repo/.git/config"]);
      expect(outcomes(await sandbox.apply({ paths: changes }))).toEqual(outcomes(applied));
      expect(
        outcomes(await sandbox.apply({ paths: [{ path: "/repo/.git/config", control: true }] })),
      ).toEqual({
        ".git/config": "applied",
      });
    });

    test("of a name that is no UTF-8 is applied like others, and does not keep them from it", async () => {
      await using sandbox = await create();
      await run(sandbox, `echo x > edited.txt; echo y > "$(printf 'bad\\351\\377')"`);
      const changes = await sandbox.changes();
      expect(changes.map(({ path }) => path)).toEqual(["/repo/bad\udce9\udcff", "/repo/edited.txt"]);
      expect(outcomes(await sandbox.apply({ paths: changes }))).toEqual({
        "bad\udce9\udcff": "applied",
        "edited.txt": "applied",
      });
      expect(await readdir(repo, { encoding: "latin1" })).toContain("bad\xe9\xff");
    });

    test("is still there after a stop, and so is what the directory was at the mount", async () => {
      await using sandbox = await create();
      await run(sandbox, "echo changed > edited.txt; rm removed.txt; rm -r old; echo x > kept.txt");
      await write("kept.txt", "changed by the host\n");
      await sandbox.stop();
      await expect(sandbox.changes()).rejects.toMatchObject({ code: "SANDBOX_STOPPED" });
      await sandbox.start();
      expect((await sandbox.commands.run("cat /repo/edited.txt; ls -A /repo")).stdout).toBe(
        "changed\nedited.txt\nkept.txt\nscript\n",
      );
      expect(outcomes(await sandbox.apply())).toEqual({
        "edited.txt": "applied",
        "kept.txt": "conflict",
        old: "applied",
        "removed.txt": "applied",
      });
      expect(await names()).toEqual(["edited.txt", "kept.txt", "script"]);
      expect(await read("kept.txt")).toBe("changed by the host\n");
    });

    test("is a conflict where the directory or the sandbox changed since, and nowhere else", async () => {
      await using sandbox = await create();
      await run(sandbox, "echo mine > edited.txt; echo mine > kept.txt; echo mine > new; rm removed.txt");
      await run(sandbox, "rm -r old; echo mine > script");
      const reviewed = await sandbox.changes();
      await write("edited.txt", "theirs\n");
      await write("new", "theirs\n");
      await write("removed.txt", "theirs\n");
      await write("old/c", "theirs\n");
      await run(sandbox, "echo late > script");
      expect(outcomes(await sandbox.apply({ paths: reviewed }))).toEqual({
        "edited.txt": "conflict",
        "kept.txt": "applied",
        new: "conflict",
        old: "conflict",
        "removed.txt": "conflict",
        script: "conflict",
      });
      expect(await Promise.all(["edited.txt", "kept.txt", "new", "removed.txt", "script"].map(read))).toEqual(
        ["theirs\n", "mine\n", "theirs\n", "theirs\n", "#!/bin/sh\n"],
      );
      expect(await names("old")).toEqual(["c"]);
    });
  });

  describe("a directory", () => {
    test("that was replaced since is not written to", async () => {
      await using sandbox = await create();
      await run(sandbox, "echo mine > edited.txt");
      await rename(repo, join(place, "moved"));
      await mkdir(join(place, "other"));
      for (const replace of [
        () => symlink(join(place, "other"), repo),
        () => rm(repo).then(() => mkdir(repo)),
      ]) {
        await replace();
        await expect(sandbox.apply()).rejects.toMatchObject({ status: 409, code: "CONFLICT" });
      }
      expect([await readdir(join(place, "other")), await readdir(repo)]).toEqual([[], []]);
      await rm(join(place, "moved"), { recursive: true });
    });

    test("is copied only with what can be copied, and applied only where there is a copy", async () => {
      await using sandbox = await client.sandboxes.create({ template: "base" });
      await expect(sandbox.apply()).rejects.toMatchObject({ code: "INVALID_REQUEST" });
      const refused: readonly Record<string, unknown>[] = [
        { host: repo, mode: "copy", readOnly: true },
        { host: dirname(place), mode: "copy" },
      ];
      for (const mount of refused)
        await expect(
          client.sandboxes.create({ template: "base", mounts: { "/repo": mount as never } }),
        ).rejects.toMatchObject({ status: 400 });
    });
  });

  test("a directory that code swaps for a link while it is compared leads nowhere", async () => {
    await using sandbox = await create();
    await run(sandbox, "mkdir d; echo x > d/hostname");
    const swapping = await sandbox.commands.runBackground(
      "cd /repo; while :; do mv d kept; ln -s /etc d; rm d; mv kept d; done",
    );
    const seen = new Set<string>();
    for (let round = 0; round < 8; round += 1)
      for (const { path, type, size } of await sandbox.changes()) seen.add(`${path} ${type} ${size}`);
    await swapping.kill();
    const possible = ["/repo/d", "/repo/kept"].flatMap((path) => [
      `${path} directory undefined`,
      `${path}/hostname file 2`,
    ]);
    expect([...possible, "/repo/d link undefined"]).toEqual(expect.arrayContaining([...seen]));
    await sandbox.pause();
    expect((await sandbox.changes()).length).toBeGreaterThan(0);
  });

  test("a link that code or the host puts in the way leads nowhere", async () => {
    await makeDirectory(join(place, "outside"));
    await using sandbox = await create();
    await run(sandbox, "echo x > old/new; ln -s /etc absolute; ln -s ../outside up; ln -s old inside");
    await run(sandbox, "rm kept.txt; ln -s /etc/passwd kept.txt; mkfifo pipe");
    const paths = (await sandbox.changes()).map(({ path }) => path);
    await rename(join(repo, "old"), join(repo, "older"));
    await symlink(join(place, "outside"), join(repo, "old"));
    expect(outcomes(await sandbox.apply({ paths }))).toEqual({
      absolute: "refused",
      inside: "applied",
      "kept.txt": "refused",
      "old/new": "refused",
      pipe: "refused",
      up: "refused",
    });
    expect(await readdir(join(place, "outside"))).toEqual([]);
    expect((await lstat(join(repo, "kept.txt"))).isFile()).toBe(true);
    expect((await names()).filter((name) => name.startsWith(".cloud-sandbox-"))).toEqual([]);
    await rm(join(place, "outside"), { recursive: true });
  });
}
