import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Mounts, type Sandbox, SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ControlPlaneCaller } from "../support/control-plane-caller.js";
import type { LocalServer } from "../support/local-server.js";
import { ordinaryUid } from "../support/ordinary-user-caches.js";

type Start = (args: readonly string[]) => Promise<LocalServer>;

/** What holds for directories of the machine with every runtime that mounts them. */
export function hostMountStatements(start: Start): void {
  let place: string;
  let repo: string;
  let server: LocalServer;
  let client: SandboxClient;

  const owner = process.getuid?.() === 0 ? ordinaryUid : (process.getuid?.() ?? 0);
  const make = async (path: string): Promise<string> => {
    await mkdir(path, { mode: 0o755 });
    if (process.getuid?.() === 0) await chown(path, owner, owner);
    return path;
  };
  const create = (mounts: Mounts): Promise<Sandbox> => client.sandboxes.create({ template: "base", mounts });
  const said = async (sandbox: Sandbox, command: string): Promise<string> => {
    const { stdout, stderr } = await sandbox.commands.run(command);
    return `${stdout}${stderr}`.trim();
  };

  beforeAll(async () => {
    const parent = await mkdtemp(join(tmpdir(), "host-mounts-"));
    await chmod(parent, 0o755);
    place = await make(join(parent, "all"));
    repo = await make(join(place, "repo"));
    await make(join(repo, "sub"));
    await writeFile(join(repo, "sub/marker"), "marker");
    server = await start(["--pool", "0", "--allow-mount", repo]);
    client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
  });
  afterAll(async () => {
    await client?.close();
    await server?.stop();
    if (place !== undefined) await rm(join(place, ".."), { recursive: true, force: true });
  });

  test("is read and written with its owner's rights, and gets no set-uid files", async () => {
    await using sandbox = await create({
      "/repo": { host: repo },
      "/workspace/sub": { host: join(repo, "sub"), readOnly: true },
    });
    expect(await said(sandbox, "cat /repo/sub/marker /workspace/sub/marker")).toBe("markermarker");
    expect(await said(sandbox, "rm -f sub/marker")).toContain("Read-only file system");
    expect(await said(sandbox, "echo made > /repo/made; stat -c %U /repo/made")).toBe("sandbox");
    expect(await said(sandbox, "chmod 755 /repo/made && chmod u+s /repo/made")).toContain("not permitted");
    const opening = "import os; os.umask(0); os.open('/repo/suid', os.O_CREAT | os.O_WRONLY, 0o4755)";
    expect(await said(sandbox, `python3 -c "${opening}"`)).toContain("Operation not permitted");
    expect(await said(sandbox, "grep ' /repo ' /proc/self/mountinfo")).toContain("nosuid,nodev");
    const { uid, gid, mode } = await stat(join(repo, "made"));
    expect({ uid, gid, mode: mode & 0o7777 }).toEqual({ uid: owner, gid: owner, mode: 0o755 });
    expect(await readFile(join(repo, "made"), "utf8")).toBe("made\n");
  });

  test("is not mounted if it is not allowed, or a link leads to it", async () => {
    await using sandbox = await create({ "/repo": { host: repo } });
    await said(sandbox, "ln -s /etc /repo/out; ln -s sub /repo/in; touch /repo/file");
    const refusals: readonly [string, string][] = [
      ["/etc", "does not let sandboxes mount"],
      [place, "does not let sandboxes mount"],
      [`${repo}-other`, "does not let sandboxes mount"],
      [`${repo}/../repo`, "without .."],
      ["repo", "must be absolute"],
      [join(repo, "out"), "a link is a part of it"],
      [join(repo, "out/ssl"), "a link is a part of it"],
      [join(repo, "in"), "a link is a part of it"],
      [join(repo, "file"), "is not a directory"],
      [join(repo, "none"), "does not exist"],
    ];
    for (const [host, reason] of refusals) {
      const refusal = await create({ "/data": { host } }).catch((error: unknown) => error);
      expect({ host, refusal }).toMatchObject({
        refusal: { code: "MOUNT_NOT_ALLOWED", message: expect.stringContaining(reason) },
      });
    }
  });

  test("is opened anew when a stopped sandbox starts", async () => {
    const sandbox = await create({ "/data": { host: join(repo, "sub") } });
    await sandbox.stop();
    await using hostile = await create({ "/repo": { host: repo } });
    await said(hostile, "mv /repo/sub /repo/moved; ln -s /etc /repo/sub");
    await expect(sandbox.start()).rejects.toMatchObject({ code: "MOUNT_NOT_ALLOWED" });
    await said(hostile, "rm /repo/sub; mv /repo/moved /repo/sub");
    await sandbox.start();
    expect(await said(sandbox, "cat /data/marker")).toBe("marker");
    await sandbox.delete();
  });

  test("is never another one, while hostile code swaps it for a link", async () => {
    await using hostile = await create({ "/repo": { host: repo } });
    const swapping = await hostile.commands.runBackground(
      "cd /repo; ln -s /etc link; while :; do mv sub kept; mv link sub; mv sub link; mv kept sub; done",
    );
    for (let attempt = 0; attempt < 8; attempt += 1) {
      const sandbox = await create({ "/data": { host: join(repo, "sub") } }).catch((error: unknown) => {
        expect((error as { code?: string }).code).toMatch(/^(MOUNT_NOT_ALLOWED|RUNTIME_UNAVAILABLE)$/);
        return undefined;
      });
      if (!sandbox) continue;
      expect(await said(sandbox, "ls /data")).toBe("marker");
      await sandbox.delete();
    }
    await swapping.kill();
  });

  test("is for the server's own API key alone", async () => {
    const { body } = await new ControlPlaneCaller(server).call("POST", "/keys", { name: "other" });
    const other = new ControlPlaneCaller({ url: server.url, apiKey: String(body.key) });
    const told = await other.told("POST", "/sandboxes", {
      ...{ template_name: "base", mounts: { "/data": { host: repo } } },
    });
    expect(told).toBe("400 MOUNT_NOT_ALLOWED");
  });
}

/** What holds for files of others on a server that root started. */
export function othersFilesStatements(start: Start): void {
  test.each([undefined, "copy"] as const)(
    "files of other users and groups are changed and removed as their directory's owner may (mode %s)",
    async (mode) => {
      const directory = await mkdtemp(join(tmpdir(), "host-mounts-others-"));
      const server = await start(["--pool", "0", "--allow-mount", directory]);
      try {
        await chmod(directory, 0o755);
        for (const name of ["group", "removed", "open", "secret"]) {
          await writeFile(join(directory, name), "old\n");
          await chmod(join(directory, name), name === "open" ? 0o666 : name === "secret" ? 0o600 : 0o644);
        }
        await chown(directory, ordinaryUid, 0);
        await chown(join(directory, "group"), ordinaryUid, 0);
        await chown(join(directory, "open"), ordinaryUid + 1, ordinaryUid + 1);
        await using client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
        const mounts = { "/data": mode ? { host: directory, mode } : { host: directory } };
        await using sandbox = await client.sandboxes.create({ template: "base", mounts });
        const change =
          "cd /data; echo new > group; rm -f removed; echo new > open; echo new > made; mv group moved";
        expect((await sandbox.commands.run(change)).stderr).toBe("");
        const { stdout, stderr } = await sandbox.commands.run("cd /data; ls; cat moved open made secret");
        expect(stdout.split(/\s+/)).toEqual("made moved open secret new new new".split(" ").concat(""));
        expect(stderr).toContain("secret: Permission denied");
        const applied = mode ? await sandbox.apply() : [];
        expect(applied.filter(({ status }) => status !== "applied")).toEqual([]);
        expect((await readdir(directory)).sort()).toEqual(["made", "moved", "open", "secret"]);
        const { uid, gid } = await stat(join(directory, "secret"));
        expect([uid, gid]).toEqual([0, 0]);
      } finally {
        await server.stop();
        await rm(directory, { recursive: true, force: true });
      }
    },
  );
}

/** What holds for directories of root on a server that root started. */
export function rootMountStatements(start: Start): void {
  test("a directory of root is mounted read-only alone, and the server's data not at all", async () => {
    const directory = await mkdtemp(join(tmpdir(), "host-mounts-root-"));
    const data = join(directory, "data");
    await symlink(directory, `${directory}-link`);
    const args = ["--pool", "0", "--data-dir", data, "--allow-mount", `${directory}-link`];
    const server = await start(args);
    try {
      await mkdir(join(directory, "own"));
      await writeFile(join(directory, "own/public"), "public", { mode: 0o644 });
      await writeFile(join(directory, "own/private"), "private", { mode: 0o600 });
      await using client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
      const create = (host: string, readOnly: boolean) =>
        client.sandboxes.create({ template: "base", mounts: { "/data": { host, readOnly } } });
      await expect(create(join(directory, "own"), false)).rejects.toThrow("belongs to root");
      for (const host of [data, join(data, "volumes"), directory])
        await expect(create(host, true)).rejects.toThrow("the server's own data");
      await using sandbox = await create(join(`${directory}-link`, "own"), true);
      expect((await sandbox.commands.run("touch /data/x")).stderr).toContain("Read-only file system");
      const { stdout, stderr } = await sandbox.commands.run("cat /data/public /data/private");
      expect([stdout, stderr]).toEqual(["public", expect.stringContaining("Permission denied")]);
    } finally {
      await server.stop();
      await rm(directory, { recursive: true, force: true });
      await rm(`${directory}-link`);
    }
  });
}
