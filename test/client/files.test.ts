import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createReadStream, existsSync } from "node:fs";
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Sandbox, SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type LocalServer, startLocalServer } from "../support/local-server.js";

let server: LocalServer;
let client: SandboxClient;
let sandbox: Sandbox;
let local: string;

beforeAll(async () => {
  server = await startLocalServer({ args: ["--pool", "0"] });
  client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
  sandbox = await client.sandboxes.create({ template: "code-interpreter" });
});
afterAll(async () => {
  await sandbox?.delete();
  await client?.close();
  await server?.stop();
});
beforeEach(async () => {
  local = await mkdtemp(join(tmpdir(), "client-files-"));
  await sandbox.commands.run("rm -rf /workspace/* /workspace/.[a-z]*");
  return () => rm(local, { recursive: true, force: true });
});

async function digest(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest("hex");
}

const mebibyte = 1024 * 1024;

describe("a file of this machine", () => {
  test.each([0, 100, 5 * mebibyte])("of %i bytes is uploaded and downloaded", async (size) => {
    const up = join(local, "up");
    await writeFile(up, randomBytes(size));
    const sent: number[] = [];
    const onProgress = (seen: number[]) => (progress: { bytes: number; total: number | undefined }) => {
      expect(progress.total).toBe(size);
      seen.push(progress.bytes);
    };
    expect(await sandbox.files.upload(up, "there", { onProgress: onProgress(sent) })).toMatchObject({ size });
    const received: number[] = [];
    const down = join(local, "down");
    expect(await sandbox.files.download("there", down, { onProgress: onProgress(received) })).toBe(size);
    expect(await digest(down)).toBe(await digest(up));
    expect(sent.at(-1)).toBe(size);
    expect(received.at(-1) ?? 0).toBe(size);
    expect([...sent].sort((a, b) => a - b)).toEqual(sent);
  });

  test("is streamed in both directions", async () => {
    const up = join(local, "up");
    const size = 200 * mebibyte;
    await writeFile(up, Buffer.alloc(size, "x"));
    await sandbox.files.upload(up, "warm-up");
    const before = process.memoryUsage().rss;
    let most = before;
    const onProgress = (): void => {
      most = Math.max(most, process.memoryUsage().rss);
    };
    await sandbox.files.upload(up, "large", { onProgress });
    await sandbox.files.download("large", join(local, "down"), { onProgress });
    expect((await stat(join(local, "down"))).size).toBe(size);
    expect(most - before).toBeLessThan(160 * mebibyte);
  });

  test.each<[string, () => Promise<unknown>, string]>([
    ["that is not there", () => sandbox.files.upload(join(local, "absent"), "a"), "LOCAL_FILE_FAILED"],
    ["in no directory", () => sandbox.files.download("/tmp", join(local, "no", "a")), "INVALID_PATH"],
    ["of no name", () => sandbox.files.upload("", "a"), "INVALID_ARGUMENT"],
    [
      "of a sandbox's that is missing",
      () => sandbox.files.download("absent", join(local, "a")),
      "FILE_NOT_FOUND",
    ],
    [
      "of a directory that is missing",
      () => sandbox.files.downloadDirectory("absent", local),
      "ARCHIVE_FAILED",
    ],
  ])("%s is an error that says so, and leaves nothing", async (_, attempt, code) => {
    await expect(attempt()).rejects.toMatchObject({ code });
    expect(await readdir(local)).toEqual([]);
  });
});

describe("a download", () => {
  test("makes the file that a link leads to, and is refused where the link's directory is missing", async () => {
    await sandbox.files.write("content", "new");
    await mkdir(join(local, "elsewhere"));
    await symlink("elsewhere", join(local, "through"));
    await symlink("through/../made", join(local, "second"));
    await symlink("second", join(local, "link"));
    await symlink("missing/file", join(local, "lost"));
    await sandbox.files.download("content", join(local, "link"));
    expect(await readFile(join(local, "made"), "utf8")).toBe("new");
    expect(await readlink(join(local, "link"))).toBe("second");
    await expect(sandbox.files.download("content", join(local, "lost"))).rejects.toMatchObject({
      code: "LOCAL_FILE_FAILED",
    });
    expect((await readdir(local)).sort()).toEqual(["elsewhere", "link", "lost", "made", "second", "through"]);
  });

  test("replaces a file behind a link, which keeps its mode, and nothing that is not a regular file", async () => {
    await sandbox.files.write("content", "new");
    const [file, link, pipe] = ["file", "link", "pipe"].map((name) => join(local, name)) as [
      string,
      string,
      string,
    ];
    await writeFile(file, "old", { mode: 0o640 });
    await symlink("file", link);
    execFileSync("mkfifo", [pipe]);
    await sandbox.files.download("content", link);
    expect(await readFile(file, "utf8")).toBe("new");
    expect(await readlink(link)).toBe("file");
    expect((await stat(file)).mode & 0o777).toBe(0o640);
    for (const path of [pipe, local]) {
      await expect(sandbox.files.download("content", path)).rejects.toMatchObject({
        code: "LOCAL_FILE_FAILED",
        message: expect.stringContaining(`${path} exists, and is not a regular file`),
      });
    }
    expect((await stat(pipe)).isFIFO()).toBe(true);
    expect((await readdir(local)).sort()).toEqual(["file", "link", "pipe"]);
  });
});

describe("a directory", () => {
  test("is uploaded and downloaded with modes, links and odd names", async () => {
    const up = join(local, "up");
    await mkdir(join(up, "deep", "empty"), { recursive: true });
    await writeFile(join(up, "deep", "ä b\n.txt"), "odd");
    await writeFile(join(up, "run"), "#!/bin/sh\n");
    await chmod(join(up, "run"), 0o755);
    await writeFile(join(up, "secret.env"), "A=1");
    await symlink("run", join(up, "link"));
    const at = new Date("2024-05-06T07:08:09Z");
    await utimes(join(up, "run"), at, at);
    await chmod(join(up, "deep", "empty"), 0o700);
    await sandbox.files.uploadDirectory(up, "project", { exclude: (name) => name.endsWith(".env") });
    const names: string[] = [];
    for await (const { path } of sandbox.files.walk("project")) names.push(path.replace("/workspace/", ""));
    expect(names.sort()).toEqual(
      ["project/deep", "project/deep/empty", "project/deep/ä b\n.txt", "project/link", "project/run"].sort(),
    );
    expect(await sandbox.files.stat("project/run")).toMatchObject({ modifiedAt: at });
    const down = join(local, "down");
    await sandbox.files.downloadDirectory("project", down);
    expect((await readdir(down)).sort()).toEqual(["deep", "link", "run"]);
    expect(await readFile(join(down, "deep", "ä b\n.txt"), "utf8")).toBe("odd");
    expect(await readlink(join(down, "link"))).toBe("run");
    expect((await stat(join(down, "run"))).mode & 0o777).toBe(0o755);
    expect((await stat(join(down, "deep", "empty"))).mode & 0o777).toBe(0o700);
    const { stdout } = await sandbox.commands.run("ls -A /tmp | grep tar.gz");
    expect(stdout).toBe("");
  });

  test("with more than is allowed is not downloaded", async () => {
    await sandbox.commands.run("mkdir hostile; cd hostile; head -c 3000000 /dev/zero > zeros");
    const down = join(local, "inside", "down");
    const coming = sandbox.files.downloadDirectory("hostile", down, { maxBytes: 2_000_000 });
    await expect(coming).rejects.toMatchObject({ message: expect.stringMatching(/more than 2000000 bytes/) });
    expect(await readdir(local)).toEqual(["inside"]);
  });

  const outside = /^it is a link to .*, which is not in the directory$/;
  const pipe = /^it is a pipe$/;
  test.each<[string, string, Record<string, RegExp>, string[]]>([
    ["a link to a path", "ln -s /etc link; ln -s a inside; echo b > z", { link: outside }, ["inside", "z"]],
    [
      "links out",
      "mkdir d; ln -s .. d/up; ln -s d/up/.. x; ln -s d/../.. y",
      { x: outside, y: outside },
      ["d"],
    ],
    ["a link around nothing", "ln -s none/../b x; ln -s none n", { x: outside }, ["n"]],
    ["a link to itself", "ln -s x x; ln -s y/.. z; ln -s z y", { x: outside, y: outside, z: outside }, []],
    ["a pipe", "mkfifo p; mkdir d; mkfifo d/p", { p: pipe, "d/p": pipe }, ["d"]],
    [
      "a socket",
      "python3 -c 'import socket as s; s.socket(s.AF_UNIX).bind(\"s\")'",
      { s: /^tar says: socket ignored$/ },
      [],
    ],
    ["what may not be read", "echo x > f; chmod 0 f", { f: /^tar says: .*Permission denied$/ }, []],
    ["a name that is not UTF-8", "touch $'b\\377'", { "b\ufffd": /^its name is not UTF-8$/ }, []],
    ["backslashes", "mkdir 'd\\e'; echo 1 > 'd\\e/f\\'; ln -s 'd\\e' 'l\\'", {}, ["d\\e", "l\\"]],
    ["a name with a colon", "mkdir c:d; echo 1 > c:d/c:e", {}, ["c:d"]],
    [
      "hard links",
      "ln a i; ln -s a l; ln l m; mkfifo p; ln p q",
      { p: /pipe|hard/, q: /pipe|hard/ },
      ["i", "l", "m"],
    ],
  ])("with %s is downloaded without what cannot be", async (_, script, left, names) => {
    await sandbox.commands.run(["bash", "-c", `mkdir odd; cd odd; echo 1 > a; ${script}`]);
    const down = join(local, "inside", "down");
    // Once more, over what is there.
    for (let times = 0; times < 2; times += 1) {
      const { skipped } = await sandbox.files.downloadDirectory("odd", down);
      expect(Object.fromEntries(skipped.map(({ path, reason }) => [path, reason]))).toEqual(
        Object.fromEntries(Object.entries(left).map(([name, why]) => [name, expect.stringMatching(why)])),
      );
      expect(skipped.filter(({ isLink }) => isLink).length).toBe(
        Object.values(left).filter((why) => why === outside).length,
      );
      expect((await readdir(down)).sort()).toEqual(["a", ...names].sort());
    }
    expect(await readFile(join(down, "a"), "utf8")).toBe("1\n");
    expect(await readdir(local)).toEqual(["inside"]);
  });

  test("is uploaded without what cannot be", async () => {
    const up = join(local, "up");
    await mkdir(join(up, "deep"), { recursive: true });
    execFileSync("mkfifo", [join(up, "deep", "pipe")]);
    await writeFile(join(up, "deep", "kept"), "kept");
    await writeFile(join(up, "back\\slash"), "kept");
    await symlink("/etc/hostname", join(up, "link"));
    await symlink("nothing", join(up, "dangling"));
    await writeFile(Buffer.concat([Buffer.from(join(up, "b")), Buffer.from([0xff])]), "odd");
    const listening = createServer().listen(join(up, "socket"));
    await once(listening, "listening");
    const { skipped } = await sandbox.files.uploadDirectory(up, "tree");
    listening.close();
    const reason = "it is neither a file nor a directory nor a link";
    expect(skipped).toHaveLength(3);
    expect(skipped).toEqual(
      expect.arrayContaining([
        { path: "b\ufffd", reason: "its name is not UTF-8", isLink: false },
        { path: "deep/pipe", reason, isLink: false },
        { path: "socket", reason, isLink: false },
      ]),
    );
    const found = await sandbox.commands.run(
      "cd tree; find . -mindepth 1 -printf '%P %l\\n' | LC_ALL=C sort",
    );
    expect(found.stdout.split("\n")).toEqual([
      ...["back\\slash ", "dangling nothing", "deep ", "deep/kept ", "link /etc/hostname", ""],
    ]);
    for (const none of [join(local, "none"), join(up, "deep", "kept")])
      await expect(sandbox.files.uploadDirectory(none, "tree")).rejects.toMatchObject({
        code: "LOCAL_FILE_FAILED",
      });
  });

  test("is uploaded under the name of a link to it", async () => {
    const up = join(local, "up");
    await mkdir(up);
    await writeFile(join(up, "file"), "kept");
    await symlink("up", join(local, "link"));
    await sandbox.files.uploadDirectory(join(local, "link"), "linked");
    expect(await sandbox.files.readText("linked/file")).toBe("kept");
  });
});

test("the download of a directory ends at its limit, and at its signal", async () => {
  await sandbox.commands.run("mkdir many; cd many; head -c 3000000 /dev/urandom > a");
  const down = join(local, "down");
  const received: number[] = [];
  const onProgress = ({ bytes }: { bytes: number }): void => void received.push(bytes);
  const limited = sandbox.files.downloadDirectory("many", down, { maxBytes: 1_000_000, onProgress });
  await expect(limited).rejects.toMatchObject({ code: "DIRECTORY_TOO_LARGE" });
  expect(Math.max(...received)).toBeLessThanOrEqual(1_000_000);
  await sandbox.commands.run("head -c 100000000 /dev/zero > many/zeros");
  const controller = new AbortController();
  const coming = sandbox.files.downloadDirectory("many", down, { signal: controller.signal });
  while (!existsSync(down)) await nextTurn();
  controller.abort("enough");
  await expect(coming).rejects.toMatchObject({ name: "AbortError", reason: "enough" });
});

test("an entry is described and moved", async () => {
  await sandbox.files.write("a.txt", "hello");
  expect(await sandbox.files.stat("a.txt")).toMatchObject({
    size: 5,
    isDirectory: false,
    path: "/workspace/a.txt",
  });
  await sandbox.files.rename("a.txt", "b.txt");
  expect(await sandbox.files.exists("a.txt")).toBe(false);
  await sandbox.files.write("c.txt", "other");
  await expect(sandbox.files.rename("b.txt", "c.txt")).rejects.toMatchObject({ name: "ConflictError" });
  await sandbox.files.rename("b.txt", "c.txt", { overwrite: true });
  expect(await sandbox.files.readText("c.txt")).toBe("hello");
});

describe("large files of a sandbox", () => {
  const content = randomBytes(3 * mebibyte);

  test("come back as they were written, also many at once", async () => {
    const paths = Array.from({ length: 12 }, (_, index) => `many/${index}`);
    const contents = paths.map(() => randomBytes(2 * mebibyte));
    await Promise.all(paths.map((path, index) => sandbox.files.write(path, contents[index] ?? "")));
    const read = await Promise.all(paths.map((path) => sandbox.files.readBytes(path)));
    expect(read.map((bytes, index) => contents[index]?.equals(bytes))).toEqual(paths.map(() => true));
  });

  test("that are refused half-way leave the way free for the next call", async () => {
    const tooLarge = Buffer.alloc(64 * mebibyte);
    await expect(sandbox.files.write("/etc/large", tooLarge)).rejects.toMatchObject({
      code: "PATH_NOT_ALLOWED",
    });
    expect((await sandbox.commands.run("echo here", { requestTimeoutSeconds: 20 })).stdout).toBe("here\n");
  });

  test("are streamed, whatever their length, and keep what was there if the stream fails", {
    timeout: 60_000,
  }, async () => {
    const piece = randomBytes(mebibyte);
    let highest = 0;
    const stream = async function* (pieces: number, failure?: Error): AsyncGenerator<Uint8Array> {
      for (let sent = 0; sent < pieces; sent += 1) {
        highest = Math.max(highest, process.memoryUsage.rss());
        yield piece;
      }
      if (failure !== undefined) throw failure;
    };
    await sandbox.files.write("streamed", stream(8), { mode: "0700" });
    const before = process.memoryUsage.rss();
    highest = 0;
    const size = 300 * mebibyte;
    expect(await sandbox.files.write("streamed", stream(300))).toMatchObject({ size });
    expect(highest - before).toBeLessThan(200 * mebibyte);
    const failing = sandbox.files.write("streamed", stream(40, new Error("the source broke")));
    await expect(failing).rejects.toThrow("the source broke");
    const aborted = sandbox.files.write("streamed", stream(1e9), { signal: AbortSignal.timeout(300) });
    await expect(aborted).rejects.toMatchObject({ name: "AbortError" });
    await expect(sandbox.files.write("streamed", stream(40), { overwrite: false })).rejects.toMatchObject({
      name: "ConflictError",
    });
    await expect(sandbox.files.write("/etc/streamed", stream(40))).rejects.toMatchObject({
      code: "PATH_NOT_ALLOWED",
    });
    expect(await sandbox.files.stat("streamed")).toMatchObject({ size, permissions: "-rwx------" });
    await expect
      .poll(async () => (await sandbox.commands.run("ls -A /workspace")).stdout, { timeout: 10_000 })
      .toBe("streamed\n");
  });

  test("have the mode that is asked for, and replace nothing unless they may", {
    timeout: 60_000,
  }, async () => {
    const large = new Uint8Array(400 * mebibyte);
    const once = { mode: "0750", overwrite: false };
    expect(await sandbox.files.write("once", large, once)).toMatchObject({ size: large.length });
    await expect(sandbox.files.write("once", large, once)).rejects.toMatchObject({ name: "ConflictError" });
    await sandbox.files.write("once", content);
    expect(await sandbox.files.stat("once")).toMatchObject({
      size: content.length,
      permissions: "-rwxr-x---",
    });
  });

  test("do not go where they may not", async () => {
    await sandbox.files.write("large", content);
    await expect(sandbox.files.write("/etc/large", content)).rejects.toMatchObject({
      code: "PATH_NOT_ALLOWED",
    });
    await sandbox.files.mkdir("directory");
    await expect(sandbox.files.write("directory", content)).rejects.toMatchObject({ code: "INVALID_PATH" });
    await expect(sandbox.files.readBytes("nothing")).rejects.toMatchObject({ name: "NotFoundError" });
  });

  test("wait for nothing where their sandbox is paused, stopped or gone", async () => {
    const other = await client.sandboxes.create({ template: "code-interpreter" });
    const write = () => other.files.write("large", content);
    await write();
    await other.pause();
    await expect(write()).rejects.toMatchObject({ code: "SANDBOX_PAUSED" });
    await other.resume();
    await write();
    expect(Buffer.from(await other.files.readBytes("large")).equals(content)).toBe(true);
    await other.stop();
    await expect(other.files.readBytes("large")).rejects.toMatchObject({ code: "SANDBOX_STOPPED" });
    await other.start();
    expect(Buffer.from(await other.files.readBytes("large")).equals(content)).toBe(true);
    await other.delete();
    await expect(write()).rejects.toMatchObject({ code: "SANDBOX_NOT_FOUND" });
  });
});
