import { execFileSync } from "node:child_process";
import { rmdirSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { ResourceLimitError, Sandbox, SandboxClient } from "cloud-sandbox";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import {
  cannotStartAs,
  type LocalServer,
  type StartedBy,
  startLocalServer,
} from "../support/local-server.js";

let place: string;
beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), "snapshots-"));
});
afterEach(() => rm(place, { recursive: true, force: true }));

async function start(
  args: readonly string[],
  who: StartedBy = "root",
): Promise<{ server: LocalServer; client: SandboxClient }> {
  const server = await startLocalServer({ who, args: ["--pool", "0", ...args] });
  const client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
  onTestFinished(async () => {
    await client.close();
    await server.stop();
  });
  return { server, client };
}

/** Files of many kinds, and what `find` and the content say of each, without the time of directories. */
const makeTree = `
cd /workspace && mkdir tree && cd tree
printf one > file && ln file hard && ln -s /etc/passwd link && ln -s nowhere broken
truncate -s 100M sparse && printf end >> sparse
printf x > "$(printf 'no-utf8-\\377')" && printf x > "$(printf 'line\\nbreak')" && printf x > "$(printf '%0255d' 1)"
mkfifo fifo && mkdir -m 0 closed && mkdir -m 1777 sticky && printf run > run.sh && chmod 750 run.sh
mkdir -p deep/a/b/c && printf deep > deep/a/b/c/d && touch -d 2001-02-03T04:05:06 old
printf changed > /usr/local/changed-here && rm -f /usr/bin/cal; printf t > /tmp/in-tmp; printf h > ~/in-home
`;
const tellTree = `
cd /workspace/tree
find . -printf '%p %y %m %n %l %s %TY\\n' | sed -E 's/^(.* d [0-9]+) .*/\\1/' | LC_ALL=C sort | sha256sum
find . -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum
du -k sparse | cut -f1; cat /usr/local/changed-here /tmp/in-tmp ~/in-home; test -e /usr/bin/cal || echo gone
[ file -ef hard ] && echo same
`;

describe.each<StartedBy>(["root", "an ordinary user"])("on a server of %s", (who) => {
  test("a sandbox from a snapshot has files of every kind as they were", async ({ skip }) => {
    const obstacle = cannotStartAs(who);
    skip(obstacle !== undefined, obstacle);
    const { client } = await start([], who);
    await using sandbox = await client.sandboxes.create({ template: "base" });
    const made = await sandbox.commands.run(makeTree);
    expect(made.stderr).toBe("");
    const told = await sandbox.commands.run(tellTree);
    const snapshot = await sandbox.snapshot();
    expect(snapshot.sizeBytes).toBeLessThan(8 * 2 ** 20);
    await sandbox.commands.run(
      "chmod 700 /workspace/tree/closed; rm -rf /workspace/tree /usr/local/changed-here",
    );
    await using other = await client.sandboxes.create({ snapshot });
    expect((await other.commands.run(tellTree)).stdout).toBe(told.stdout);
    await sandbox.restore(snapshot);
    expect((await sandbox.commands.run(tellTree)).stdout).toBe(told.stdout);

    await using filesOnly = await client.sandboxes.create({ snapshot, filesOnly: true });
    const { stdout, stderr } = await filesOnly.commands.run(tellTree);
    expect(stderr).toContain("/usr/local/changed-here: No such file");
    expect(stdout).toBe(told.stdout.replace("changed", ""));
  });
});

test("a sandbox keeps its files if those of a snapshot may not fit on its disk", async () => {
  const data = join(place, "data");
  const before = await start(["--data-dir", data, "--disk-mb", "256"]);
  const large = await before.client.sandboxes.create({ template: "base" });
  await large.commands.run("head -c 100M /dev/zero > large");
  const { id } = await large.snapshot();
  await large.delete();
  await before.server.stop();

  const { client } = await start(["--data-dir", data, "--disk-mb", "64"]);
  await using small = await client.sandboxes.create({ template: "base" });
  await small.files.write("own", "kept");
  await expect(small.restore(id)).rejects.toThrow(
    `Snapshot ${id} is of a sandbox with a disk of 256 MiB, and this one has 64 MiB.`,
  );
  expect(await small.files.readText("own")).toBe("kept");
});

test("a sandbox stays as it is if there is no memory for a second machine of it, and goes back when it is stopped", async () => {
  // The server's processes may be limited to less than the machine has.
  const hostMb = Math.floor(Math.min(totalmem(), process.constrainedMemory() || Infinity) / 2 ** 20);
  const { client } = await start([
    "--memory-mb",
    "512",
    "--disk-mb",
    "256",
    "--memory-overcommit",
    `${1400 / hostMb}`,
  ]);
  await using sandbox = await client.sandboxes.create({ template: "base" });
  await sandbox.files.write("file", "before");
  const snapshot = await sandbox.snapshot();
  await sandbox.files.write("file", "after");
  await expect(sandbox.restore(snapshot)).rejects.toThrow(
    /^A running sandbox has two machines for a moment .* Stop the sandbox, and restore it then\.$/,
  );
  expect(await sandbox.files.readText("file")).toBe("after");
  await sandbox.stop();
  await sandbox.restore(snapshot);
  expect(await sandbox.files.readText("file")).toBe("before");
});

test("a snapshot is of one moment while a program writes", async () => {
  const { client } = await start([]);
  await using sandbox = await client.sandboxes.create({ template: "base" });
  const write = "i=0; while :; do i=$((i+1)); echo $i > a; echo $i > b; done";
  await sandbox.commands.runBackground(write);
  const read = async (of: Sandbox, name: string): Promise<number> => Number(await of.files.readText(name));
  await expect.poll(() => read(sandbox, "b").catch(() => 0)).toBeGreaterThan(0);
  for (let round = 0; round < 5; round += 1) {
    const snapshot = await sandbox.snapshot();
    expect(snapshot.consistent).toBe(true);
    await using other = await client.sandboxes.create({ snapshot });
    const [a, b] = [await read(other, "a"), await read(other, "b")];
    // An echo truncates before it writes.
    expect([0, b, b + 1]).toContain(b === 0 ? 0 : a);
  }
  const before = await read(sandbox, "b");
  await expect.poll(() => read(sandbox, "b")).toBeGreaterThan(before);
});

test("snapshots are of the API key whose sandbox they have, and only so many", async () => {
  const { server, client } = await start(["--max-snapshots", "2"]);
  const create = () => client.controlPlane.POST("/v1/keys", { body: { name: "other" } });
  const { data } = await create();
  const other = new SandboxClient({ apiKey: data?.key ?? "", baseUrl: server.url });
  onTestFinished(() => other.close());
  await using sandbox = await client.sandboxes.create({ template: "base" });
  await using foreign = await other.sandboxes.create({ template: "base" });
  const mine = await sandbox.snapshot({ name: "same" });
  const theirs = await foreign.snapshot({ name: "same" });
  expect((await other.snapshots.list()).map(({ id }) => id)).toEqual([theirs.id]);
  expect((await other.snapshots.get("same")).id).toBe(theirs.id);
  expect((await client.snapshots.get("same")).id).toBe(mine.id);
  for (const call of [
    other.snapshots.get(mine.id),
    foreign.restore(mine.id),
    other.sandboxes.create({ snapshot: mine.id }),
  ])
    await expect(call).rejects.toMatchObject({ code: "SNAPSHOT_NOT_FOUND" });
  await other.snapshots.delete(mine.id);
  expect((await client.snapshots.get(mine.id)).id).toBe(mine.id);
  await foreign.snapshot();
  await expect(foreign.snapshot()).rejects.toThrow(ResourceLimitError);
});

test("a fork is refused whole where there is no place for all, and each has its sandbox's secrets", async () => {
  const { client } = await start(["--max-sandboxes", "4"]);
  const value = "a-credential-that-nobody-has";
  await using sandbox = await client.sandboxes.create({
    template: "base",
    secrets: { TOKEN: { value, hosts: ["api.example.com"] } },
  });
  await expect(sandbox.fork({ count: 4 })).rejects.toThrow(/at most 4 sandboxes/);
  expect(await client.sandboxes.list().all()).toHaveLength(1);
  const forks = await sandbox.fork({ count: 3 });
  expect(forks.every((fork) => fork instanceof Sandbox)).toBe(true);
  for (const fork of forks as Sandbox[]) {
    expect((await fork.secrets.list()).map(({ name }) => name)).toEqual(["TOKEN"]);
    expect((await fork.commands.run("echo $TOKEN")).stdout).not.toContain(value);
    expect((await fork.commands.run("echo $TOKEN")).stdout.length).toBeGreaterThan(8);
    await fork.delete();
  }
  const snapshot = await sandbox.snapshot();
  await using other = await client.sandboxes.create({ snapshot });
  expect(await other.env.names()).not.toContain("TOKEN");
});

test("a sandbox with a copy of a directory is refused, with the reason", async () => {
  const repo = join(place, "repo");
  await mkdir(repo);
  const { client } = await start(["--allow-mount", place]);
  await using sandbox = await client.sandboxes.create({
    template: "base",
    mounts: { "/repo": { host: repo, mode: "copy" } },
  });
  for (const call of [sandbox.snapshot(), sandbox.fork()])
    await expect(call).rejects.toThrow(/copy of a directory at \/repo/);
});

test("a disk without room refuses snapshots, keeps the sandbox, and has nothing of them", {
  tags: ["mount"],
}, async () => {
  const disk = await mkdtemp(join(tmpdir(), "snapshots-disk-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=40m", "tmpfs", disk]);
  onTestFinished(() => {
    execFileSync("umount", ["--lazy", disk]);
    rmdirSync(disk);
  });
  const { client } = await start(["--data-dir", join(disk, "data")]);
  await using sandbox = await client.sandboxes.create({ template: "base" });
  await sandbox.commands.run("head -c 60M /dev/urandom > large; echo kept > small");
  await expect(sandbox.snapshot()).rejects.toThrow(ResourceLimitError);
  await expect(sandbox.fork()).rejects.toMatchObject({ code: "STORAGE_FULL" });
  expect(await readdir(join(disk, "data", "snapshots"))).toEqual([]);
  expect(await sandbox.files.readText("small")).toBe("kept\n");
  execFileSync("dd", ["if=/dev/zero", `of=${join(disk, "filled")}`, "bs=1M", "count=37"], {
    stdio: "ignore",
  });
  await sandbox.files.remove("large");
  await expect(sandbox.snapshot()).rejects.toThrow(/Less than a tenth/);
});

test("a fork whose caller leaves is no fork", async () => {
  const { client } = await start([]);
  await using sandbox = await client.sandboxes.create({ template: "base" });
  await sandbox.commands.run("head -c 20M /dev/urandom > large");
  const leaving = new AbortController();
  const forking = sandbox.fork({ count: 3, signal: leaving.signal });
  const others = async () => (await client.sandboxes.list().all()).length - 1;
  await expect.poll(others, { interval: 5 }).toBeGreaterThan(0);
  leaving.abort();
  await expect(forking).rejects.toThrow();
  await expect.poll(others).toBe(0);
});

/** SNAPSHOT_KILLS=100 kills the server a hundred times. */
const kills = Number(process.env.SNAPSHOT_KILLS ?? "8");

test(
  "a server that is killed while it takes, forks and restores has only whole snapshots, and whole sandboxes",
  async () => {
    const data = join(place, "data");
    const setUp = await start(["--data-dir", data]);
    const first = await setUp.client.sandboxes.create({ template: "base", timeoutSeconds: 3600 });
    await first.commands.run("head -c 30M /dev/urandom > large; sha256sum large > sum");
    const { id: kept } = await first.snapshot({ name: "kept" });
    await first.delete();
    await setUp.server.stop();
    const isWhole = async (sandbox: Sandbox) =>
      (await sandbox.commands.run("sha256sum -c sum")).exitCode === 0;
    for (let round = 0; round < kills; round += 1) {
      const { server, client } = await start(["--data-dir", data]);
      const sandbox = await client.sandboxes.create({ snapshot: "kept", timeoutSeconds: 3600 });
      if (round % 4 === 3) await sandbox.stop();
      const work = [
        () => sandbox.snapshot(),
        () => sandbox.fork({ count: 2, timeoutSeconds: 600 }),
        () => sandbox.restore("kept"),
        () => sandbox.restore("kept"),
      ][round % 4] as () => Promise<unknown>;
      const working = work().catch(() => undefined);
      // At moments that are spread over the work, which takes some tenths of a second.
      await new Promise((resolve) => setTimeout(resolve, (300 * (round + 1)) / kills));
      await server.stop("SIGKILL");
      await working;

      const next = await start(["--data-dir", data]);
      const listed = await next.client.snapshots.list();
      expect((await readdir(join(data, "snapshots"))).sort()).toEqual(listed.map(({ id }) => id).sort());
      expect(listed.map(({ id }) => id)).toContain(kept);
      for (const { id } of listed) {
        await using made = await next.client.sandboxes.create({ snapshot: id });
        expect(await isWhole(made)).toBe(true);
        if (id !== kept) await next.client.snapshots.delete(id);
      }
      for await (const left of next.client.sandboxes.list()) {
        // One that ran is lost with its server, as always with this runtime.
        expect(["stopped", "error"]).toContain(left.status);
        if (left.status === "stopped") {
          await left.start();
          expect(await isWhole(left)).toBe(true);
        }
        await left.delete();
      }
      expect(await readdir(join(data, "files")).catch(() => [])).toEqual([]);
      await next.server.stop();
    }
  },
  60_000 + kills * 30_000,
);
