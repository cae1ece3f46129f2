import { execFileSync } from "node:child_process";
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { field, file, fileCalls } from "../support/file-calls.js";
import { RunningAgent } from "../support/running-agent.js";

let agent: RunningAgent;
/** A directory that the agent does not serve. */
let outside: string;
beforeAll(async () => {
  agent = await RunningAgent.start();
  outside = join(agent.home, "outside");
});
afterAll(() => agent[Symbol.asyncDispose]());
beforeEach(async () => {
  for (const directory of [agent.workspace, agent.temporary, outside]) {
    // Try to remove it several times: the agent may still create files in its own directory inside.
    await rm(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 5 });
    await mkdir(directory);
  }
  await writeFile(join(outside, "secret"), "secret");
});

const shell = (line: string) => execFileSync("sh", ["-c", line], { cwd: agent.workspace, stdio: "ignore" });

const { download, entries, exists, list, makeDirectory, query, read, remove, upload, write } = fileCalls(
  () => agent,
);

/** All operations that take a path. */
const operations = {
  read,
  list,
  exists,
  remove,
  download,
  write: (path: string) => write(path, "overwritten"),
  mkdir: makeDirectory,
  upload: (path: string) => upload([file("f.txt", "overwritten")], `?${query(path)}`),
};

describe("writing and reading", () => {
  test("round-trips text in a directory that did not exist", async () => {
    const written = await write("a/b/text.txt", "héllo\n");
    expect(written.status).toBe(200);
    expect(written.body).toMatchObject({
      success: true,
      path: join(agent.workspace, "a/b/text.txt"),
      size: 7,
    });
    expect((await read("a/b/text.txt")).body).toEqual({
      path: join(agent.workspace, "a/b/text.txt"),
      content: "héllo\n",
      size: 7,
    });
  });

  test("round-trips every byte as base64", async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
    await write("bytes", bytes.toString("base64"), { encoding: "base64" });
    expect((await download("bytes")).bytes).toEqual(bytes);
  });

  test("keeps text that looks like base64 as it is", async () => {
    await write("text", "aGVsbG8=");
    expect((await download("text")).bytes.toString()).toBe("aGVsbG8=");
  });

  test.for([
    ["0644", 0o644],
    ["755", 0o755],
    ["0600", 0o600],
  ] as const)("sets mode %s", async ([mode, expected]) => {
    await write("script.sh", "true", { mode });
    expect((await stat(join(agent.workspace, "script.sh"))).mode & 0o777).toBe(expected);
  });

  test("replaces a file, unless told not to", async () => {
    await write("file", "one");
    await write("file", "two");
    const refused = await write("file", "three", { overwrite: false });
    expect({ status: refused.status, code: refused.body.code }).toEqual({
      status: 409,
      code: "FILE_ALREADY_EXISTS",
    });
    expect(refused.body.path).toBe(join(agent.workspace, "file"));
    expect((await read("file")).body.content).toBe("two");
    expect((await write("other", "new", { overwrite: false })).status).toBe(200);
    expect((await read("other")).body.content).toBe("new");
  });

  test.for(["", "/"])("does not take a served directory for a file, with %j behind it", async (end) => {
    const { status, body } = await write(`${agent.workspace}${end}`, "one");
    expect({ status, code: body.code }).toEqual({ status: 400, code: "INVALID_PATH" });
    expect(body.message).toBe(`${agent.workspace} is a directory.`);
  });

  test("leaves nothing but the file behind, also when it fails", async () => {
    await write("file", "one");
    await write("file", "two", { overwrite: false });
    await write("file", "not base64!", { encoding: "base64" });
    expect(await readdir(agent.workspace)).toEqual(["file"]);
  });

  test("goes through a symbolic link that stays inside", async () => {
    await write("/".concat(agent.temporary.slice(1), "/target"), "one");
    await symlink(join(agent.temporary, "target"), join(agent.workspace, "link"));
    expect((await read("link")).body.content).toBe("one");
    await write("link", "two");
    expect(await readFile(join(agent.temporary, "target"), "utf8")).toBe("two");
    expect((await entries("."))[0]).toMatchObject({ name: "link", is_symlink: true });
  });
});

describe("listing", () => {
  test("shows entries by name, with both spellings", async () => {
    await write("b.txt", "12345", { mode: "0640" });
    await makeDirectory("a");
    const { body } = await list(agent.workspace);
    expect(body).toMatchObject({ path: agent.workspace, count: 2, total: 2, truncated: false });
    const [directory, entry] = await entries(agent.workspace);
    expect(directory).toMatchObject({ name: "a", is_directory: true, is_dir: true });
    expect(entry).toMatchObject({
      name: "b.txt",
      path: join(agent.workspace, "b.txt"),
      size: 5,
      is_directory: false,
      is_dir: false,
      permissions: "-rw-r-----",
      mode: "0640",
    });
    expect(entry?.modified_time).toBe(entry?.modified);
    expect(Date.parse(String(entry?.modified))).not.toBeNaN();
  });
});

describe("removing", () => {
  test("takes a directory with all it holds", async () => {
    await write("a/b/c", "1");
    expect((await remove("a")).status).toBe(200);
    expect((await exists("a")).body.exists).toBe(false);
  });

  test("takes a symbolic link, and leaves what it points to", async () => {
    await symlink(outside, join(agent.workspace, "link"));
    expect((await remove("link")).status).toBe(200);
    expect(await readFile(join(outside, "secret"), "utf8")).toBe("secret");
    expect(await readdir(agent.workspace)).toEqual([]);
  });

  test("does not follow links inside of what it removes", async () => {
    await makeDirectory("a");
    await symlink(outside, join(agent.workspace, "a/link"));
    expect((await remove("a")).status).toBe(200);
    expect(await readdir(outside)).toEqual(["secret"]);
  });

  test("does not take a root itself", async () => {
    const { status, body } = await remove(agent.workspace);
    expect({ status, code: body.code }).toEqual({ status: 403, code: "PATH_NOT_ALLOWED" });
  });
});

describe("a missing path", () => {
  test.for(["read", "list", "remove", "download"] as const)("is 404 for %s", async (name) => {
    const { status, body } = await operations[name]("missing/file");
    expect({ status, code: body.code }).toEqual({ status: 404, code: "FILE_NOT_FOUND" });
    expect(body.path).toBe(join(agent.workspace, name === "remove" ? "missing" : "missing/file"));
  });

  test("does not exist", async () => {
    expect((await exists("missing")).body).toEqual({ exists: false, path: join(agent.workspace, "missing") });
    expect((await exists(".")).body).toMatchObject({ exists: true, is_directory: true });
  });

  test.for(["/files/read", "/files/exists", "/files/download"])("must be given to %s", async (operation) => {
    const { status, body } = await agent.call("GET", operation);
    expect({ status, code: body.code }).toEqual({ status: 400, code: "MISSING_PARAMETER" });
  });
});

describe("a path that leads out of the served directories", () => {
  const paths: Readonly<Record<string, () => string>> = {
    "an absolute path": () => join(outside, "secret"),
    "dots that climb": () => "../outside/secret",
    "dots within an absolute path": () => `${agent.workspace}/../outside/secret`,
    "a name that begins like a root": () => `${agent.workspace}-not/secret`,
    "the file system's root": () => "/",
    "a symbolic link to a file": () => "link-to-file",
    "a symbolic link to a directory": () => "link-to-directory/secret",
    "a link to a link": () => "link-to-link",
    "a relative link": () => "relative-link",
    "a link to /proc": () => "link-to-proc/environ",
  };

  test.for(
    Object.keys(operations).flatMap((name) =>
      Object.keys(paths).map((what) => [name as keyof typeof operations, what] as const),
    ),
  )("is refused by %s for %s", async ([name, what]) => {
    for (const [link, target] of [
      ["link-to-file", join(outside, "secret")],
      ["link-to-directory", outside],
      ["link-to-link", "link-to-file"],
      ["relative-link", "../outside/secret"],
      ["link-to-proc", "/proc/self"],
    ] as const)
      await symlink(target, join(agent.workspace, link));
    const path = paths[what]?.() ?? "";
    const removesLinkItself = name === "remove" && /^(link|relative)[^/]*$/.test(path);
    const { status, body } = await operations[name](path);
    if (removesLinkItself) expect(status).toBe(200);
    else expect({ status, code: body.code }).toEqual({ status: 403, code: "PATH_NOT_ALLOWED" });
    expect(JSON.stringify(body)).not.toContain('"secret"');
    expect(await readFile(join(outside, "secret"), "utf8")).toBe("secret");
    expect(await readdir(outside)).toEqual(["secret"]);
  });
});

test.for(Object.keys(operations))("a null byte in a path is refused by %s", async (name) => {
  const { status, body } = await operations[name as keyof typeof operations]("a\0b");
  expect({ status, code: body.code }).toEqual({ status: 400, code: "INVALID_PATH" });
});

describe("a file that is no regular file", () => {
  beforeEach(() => {
    execFileSync("mkfifo", [join(agent.workspace, "fifo")]);
    execFileSync("python3", ["-c", 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'], {
      cwd: agent.workspace,
    });
  });

  test.for(["read", "download", "write", "upload", "list"] as const)(
    "is refused by %s at once",
    async (name) => {
      for (const path of ["fifo", "socket"]) {
        const { status, body } = await operations[name](path);
        expect({ path, status, code: body.code }).toEqual({ path, status: 400, code: "INVALID_PATH" });
      }
    },
  );

  test("is refused also when it is a device", async ({ skip }) => {
    skip(process.getuid?.() !== 0, "only root can make a device");
    execFileSync("mknod", [join(agent.workspace, "device"), "c", "1", "5"]);
    expect((await read("device")).body.code).toBe("INVALID_PATH");
  });

  test("can be removed", async () => {
    expect((await remove("fifo")).status).toBe(200);
    expect((await exists("fifo")).body.exists).toBe(false);
  });
});

test.for([
  ["read", "directory", 400, "INVALID_PATH"],
  ["download", "directory", 400, "INVALID_PATH"],
  ["write", "directory", 400, "INVALID_PATH"],
  ["list", "file", 400, "INVALID_PATH"],
  ["mkdir", "file", 409, "FILE_ALREADY_EXISTS"],
  ["read", "file/below", 400, "INVALID_PATH"],
  ["write", "file/below", 409, "FILE_ALREADY_EXISTS"],
  ["read", `${"x".repeat(300)}`, 400, "INVALID_PATH"],
] as const)("%s of %s is %i %s", async ([name, path, status, code]) => {
  await makeDirectory("directory");
  await write("file", "1");
  const answer = await operations[name](path);
  expect({ status: answer.status, code: answer.body.code }).toEqual({ status, code });
});

test("making a directory that exists is no error", async () => {
  expect((await makeDirectory("a/b")).status).toBe(200);
  expect((await makeDirectory("a/b")).body).toMatchObject({
    success: true,
    path: join(agent.workspace, "a/b"),
  });
});

test("a full disk is said to be full, and the agent goes on", async ({ skip }) => {
  const small = join(agent.workspace, "small");
  await mkdir(small);
  try {
    shell(`mount -t tmpfs -o size=256k tmpfs ${small}`);
  } catch {
    skip("no file system can be mounted here");
  }
  try {
    for (const answer of [
      await write("small/file", "x".repeat(300_000)),
      await upload([file("big", Buffer.alloc(2_000_000)), field("path", "small/big")]),
      await upload([file("big", Buffer.alloc(2_000_000))], `?${query("small/big")}`),
    ])
      expect({ status: answer.status, code: answer.body.code }).toEqual({ status: 413, code: "DISK_FULL" });
    expect(await readdir(small)).toEqual([]);
    expect(await readdir(agent.workspace)).toEqual(["small"]);
    expect((await write("small/file", "fits")).status).toBe(200);
  } finally {
    shell(`umount -l ${small}`);
  }
});
