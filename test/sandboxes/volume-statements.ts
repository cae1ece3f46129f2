import { execFile } from "node:child_process";
import { mkdtemp, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Sandbox, SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ControlPlaneCaller } from "../support/control-plane-caller.js";
import type { LocalServer } from "../support/local-server.js";

const run = promisify(execFile);

interface VolumeServers {
  readonly start: (args: readonly string[]) => Promise<LocalServer>;
  /** What the server says when a stopped sandbox has a link where a directory on the way to its volume was. */
  readonly refusesLink: RegExp;
}

/** What holds for volumes with every runtime that has them, on a server that root started. */
export function volumeStatements({ start: startServer, refusesLink }: VolumeServers): void {
  let directory: string;
  let server: LocalServer;
  let client: SandboxClient;

  const start = async (...args: string[]): Promise<void> => {
    server = await startServer(["--pool", "0", "--data-dir", directory, ...args]);
    client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
  };
  const stop = async (signal?: NodeJS.Signals): Promise<void> => {
    await client.close();
    await server.stop(signal);
  };
  const said = async (sandbox: Sandbox, command: string): Promise<string> => {
    const { stdout, stderr } = await sandbox.commands.run(command);
    return `${stdout}${stderr}`.trim();
  };

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "volumes-"));
    await start();
  });
  afterAll(async () => {
    await stop();
    if (directory !== undefined) await rm(directory, { recursive: true, force: true });
  });

  test("keeps what sandboxes write, which others may change, and outlives the server", async () => {
    const cache = await client.volumes.create("cache", { sizeMb: 32 });
    const one = await client.sandboxes.create({ name: "one", mounts: { "/data": cache } });
    const other = await client.sandboxes.create({
      mounts: { "/workspace/deep/er": { volume: "cache" } },
    });
    await said(one, "mkdir /data/of-one; echo 1 > /data/of-one/file; chmod 600 /data/of-one/file");
    expect(
      await said(other, "cd deep/er/of-one; echo 2 >> file; cat file; stat -c %U .. . file | uniq"),
    ).toBe("1\n2\nsandbox");
    await one.stop();
    await other.delete();
    await stop("SIGKILL");
    await start();
    expect(await client.volumes.get("cache")).toMatchObject({ id: cache.id, sizeMb: 32, sandboxes: ["one"] });
    const found = await client.sandboxes.connect(one.id, { start: true });
    expect(await said(found, "cat /data/of-one/file; rm -r /data/of-one; ls -A /data")).toBe("1\n2");
    await found.delete();
    await client.volumes.delete("cache");
    expect(await client.volumes.list()).toEqual([]);
    // The kernel removes a device when the last process that had it mounted is gone.
    await expect.poll(async () => (await run("losetup", ["--list"])).stdout).not.toContain(cache.id);
  });

  test("is limited in size, and can be mounted read-only", async () => {
    const full = await client.volumes.create("full", { sizeMb: 16 });
    await using sandbox = await client.sandboxes.create({ mounts: { "/data": full } });
    expect(await said(sandbox, "head -c 20M /dev/zero > /data/much")).toContain("No space left on device");
    expect(
      await said(sandbox, "head -c 20M /dev/zero > elsewhere && ls -s --block-size=M elsewhere"),
    ).toContain("20M");
    await using reader = await client.sandboxes.create({
      mounts: { "/data": { volume: full, readOnly: true } },
    });
    expect(await said(reader, "ls /data; rm /data/much")).toMatch(/^much\n.*Read-only file system$/);
    expect((await client.volumes.get("full")).usedBytes).toBeLessThanOrEqual(16 * 2 ** 20);
  });

  test("gives no rights to set-uid programs and devices, and follows no link of a sandbox", async () => {
    await client.volumes.create("hostile", { sizeMb: 16 });
    const mounts = { "/workspace/a/b": { volume: "hostile" } };
    const sandbox = await client.sandboxes.create({ mounts });
    expect(await said(sandbox, "grep ' /workspace/a/b ' /proc/self/mountinfo")).toMatch(/nosuid,nodev/);
    expect(await said(sandbox, "mknod a/b/disk b 7 0")).toContain("Operation not permitted");
    expect(await said(sandbox, "mv a z && ln -s /tmp a && echo moved")).toBe("moved");
    await sandbox.stop();
    await expect(sandbox.start()).rejects.toMatchObject({
      message: expect.stringMatching(refusesLink),
    });
    await sandbox.delete();
    await client.volumes.delete("hostile");
  });

  test.each([
    ["/etc", "the system of the sandbox uses this directory"],
    ["/usr/local/x", "the system of the sandbox uses this directory"],
    ["/workspace/../etc", "must not lead through"],
    ["data", "must begin with a slash"],
    ["/home/sandbox", "only directories below it can be mounted"],
  ])("is not mounted at %s", async (path, reason) => {
    await using volumes = await volume("refused");
    const creating = client.sandboxes.create({ mounts: { [path]: volumes.record } });
    await expect(creating).rejects.toMatchObject({
      code: "INVALID_REQUEST",
      message: expect.stringContaining(reason),
    });
  });

  test("is not mounted twice, or in another one, and one that does not exist not at all", async () => {
    await using one = await volume("one-of-two");
    const create = (mounts: Record<string, { volume: string }>) => client.sandboxes.create({ mounts });
    const same = { volume: one.record.name };
    await expect(create({ "/data": same, "/more": same })).rejects.toThrow("once only");
    await expect(create({ "/data": same, "/data/in": same })).rejects.toThrow("lies in another one");
    await expect(create({ "/data": { volume: "none" } })).rejects.toMatchObject({ code: "VOLUME_NOT_FOUND" });
    await expect(client.volumes.create("Not a name")).rejects.toMatchObject({ code: "INVALID_REQUEST" });
    const { bavail, bsize } = await statfs(directory);
    const sizeMb = Math.floor((bavail * bsize) / 2 ** 20) + 1024;
    await expect(client.volumes.create("huge", { sizeMb })).rejects.toMatchObject({ code: "STORAGE_FULL" });
  });

  test("belongs to the API key that created it", async () => {
    await using mine = await volume("same-name");
    const owner = new ControlPlaneCaller(server);
    const { body } = await owner.call("POST", "/keys", { name: "other" });
    const other = new ControlPlaneCaller({ url: server.url, apiKey: String(body.key) });
    for (const id of [mine.record.id, mine.record.name])
      expect(await other.told("GET", `/volumes/${id}`)).toBe("404 VOLUME_NOT_FOUND");
    expect((await other.call("POST", "/volumes", { name: "same-name", size_mb: 16 })).status).toBe(201);
    expect((await other.call("GET", "/volumes")).body.data).toHaveLength(1);
    expect((await owner.call("GET", "/volumes/same-name")).body.id).toBe(mine.record.id);
    expect((await other.call("DELETE", "/volumes/same-name")).status).toBe(200);
  });

  async function volume(name: string) {
    const record = await client.volumes.create(name, { sizeMb: 16 });
    return { record, [Symbol.asyncDispose]: () => client.volumes.delete(record.id) };
  }
}
