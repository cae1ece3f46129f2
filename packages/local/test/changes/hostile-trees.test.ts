import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { bytePathOf, textOf } from "../../src/changes/byte-path.js";
import { isVersionControl } from "../../src/changes/special-names.js";
import { CopiedTree } from "./copied-tree.js";

const changedSince = "conflict: it changed in the directory since the sandbox got its copy";
const changedSinceReview = "conflict: it changed since the review";

/** The same files on both sides, and then what code and the host do. */
function tree(files: Readonly<Record<string, string>> = { "a.txt": "old\n", "dir/b": "b\n" }): CopiedTree {
  const made = new CopiedTree();
  onTestFinished(() => made[Symbol.dispose]());
  for (const side of [made.host, made.sandbox])
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(join(side, path, ".."), { recursive: true });
      writeFileSync(join(side, path), content);
    }
  made.mount();
  return made;
}

const content = (path: string): string => readFileSync(path, "utf8");
const leftovers = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.includes(".cloud-sandbox-"),
  );

describe("a link", () => {
  test("is made if it stays inside, and refused if it leaves or may leave", () => {
    const it = tree();
    const links = {
      absolute: "/etc/passwd",
      up: "../x",
      "dir/up": "../../x",
      through: "dir/../../x",
      inside: "dir",
      "dir/inside": "../a.txt",
      here: "./a.txt",
    };
    for (const [path, target] of Object.entries(links)) symlinkSync(target, join(it.sandbox, path));
    const leaves = "refused: the link leads out of the directory, or may do so";
    expect(it.apply()).toEqual({
      absolute: leaves,
      up: leaves,
      "dir/up": leaves,
      through: leaves,
      inside: "applied",
      "dir/inside": "applied",
      here: "applied",
    });
    expect(readlinkSync(join(it.host, "dir/inside"))).toBe("../a.txt");
  });

  test("of the host in the place of a directory is not followed, nor in the place of a file", () => {
    const it = tree();
    const outside = tree({ b: "outside\n" });
    appendFileSync(join(it.sandbox, "a.txt"), "new\n");
    appendFileSync(join(it.sandbox, "dir/b"), "new\n");
    const review = it.changes();
    renameSync(join(it.host, "dir"), join(it.host, "moved"));
    symlinkSync(outside.host, join(it.host, "dir"));
    unlinkSync(join(it.host, "a.txt"));
    symlinkSync(join(outside.host, "b"), join(it.host, "a.txt"));
    expect(it.apply(undefined, { changes: review })).toEqual({
      "a.txt": changedSince,
      "dir/b": "refused: a link or a file is in the place of its directory",
    });
    expect(content(join(outside.host, "b"))).toBe("outside\n");
  });

  test("in the place of a directory takes no path below it along", () => {
    const it = tree();
    rmSync(join(it.sandbox, "dir"), { recursive: true });
    symlinkSync("/etc", join(it.sandbox, "dir"));
    expect(it.seen()).toEqual({ dir: "changed link" });
    expect(it.apply(["dir/hostname", "dir"])).toEqual({
      "dir/hostname": "refused: there is no such change",
      dir: "refused: the link leads out of the directory, or may do so",
    });
    expect(content(join(it.host, "dir/b"))).toBe("b\n");
  });
});

describe("a file", () => {
  test("with other names is replaced, and the others keep the old content", () => {
    const it = tree();
    linkSync(join(it.host, "a.txt"), join(it.host, "..", "other"));
    it.mount();
    appendFileSync(join(it.sandbox, "a.txt"), "new\n");
    expect(it.apply()).toEqual({
      "a.txt": "applied: the file had other names, which keep the old content",
    });
    expect(content(join(it.host, "..", "other"))).toBe("old\n");
  });

  test("of two names becomes two files, without set-uid and sticky bits", () => {
    const it = tree();
    writeFileSync(join(it.sandbox, "one"), "x");
    chmodSync(join(it.sandbox, "one"), 0o6755);
    linkSync(join(it.sandbox, "one"), join(it.sandbox, "two"));
    mkdirSync(join(it.sandbox, "sticky"));
    chmodSync(join(it.sandbox, "sticky"), 0o1777);
    expect(it.apply()).toEqual({ one: "applied", two: "applied", sticky: "applied" });
    const [one, two] = ["one", "two"].map((name) => statSync(join(it.host, name)));
    expect([one?.nlink, two?.nlink, (one?.mode ?? 0) & 0o7777]).toEqual([1, 1, 0o755]);
    expect(statSync(join(it.host, "sticky")).mode & 0o7777).toBe(0o755);
  });

  test("keeps the host's mode, but for being executable", () => {
    const it = tree();
    chmodSync(join(it.host, "a.txt"), 0o640);
    chmodSync(join(it.host, "dir/b"), 0o755);
    it.mount();
    appendFileSync(join(it.sandbox, "a.txt"), "new\n");
    chmodSync(join(it.sandbox, "a.txt"), 0o777);
    expect(it.seen()).toEqual({ "a.txt": "changed file", "dir/b": "mode file" });
    it.apply();
    const modes = ["a.txt", "dir/b"].map((path) => statSync(join(it.host, path)).mode & 0o777);
    expect(modes).toEqual([0o750, 0o644]);
    expect(it.seen()).toEqual({});
  });

  test("that changed after the review is a conflict, whatever its size and times say", () => {
    const it = tree();
    writeFileSync(join(it.sandbox, "a.txt"), "new\n");
    const review = it.changes();
    const { atime, mtime } = statSync(join(it.sandbox, "a.txt"));
    writeFileSync(join(it.sandbox, "a.txt"), "bad\n");
    utimesSync(join(it.sandbox, "a.txt"), atime, mtime);
    expect(it.apply(review)).toEqual({ "a.txt": changedSinceReview });
    expect(it.apply(undefined, { changes: review })).toEqual({
      "a.txt": "conflict: it changed in the sandbox since the review",
    });
    expect([content(join(it.host, "a.txt")), leftovers(it.host)]).toEqual(["old\n", []]);
  });

  test("with a forged time is seen as changed, and one that was only touched is not", () => {
    const it = tree();
    const { atime, mtime } = statSync(join(it.host, "a.txt"));
    writeFileSync(join(it.sandbox, "a.txt"), "bad\n");
    utimesSync(join(it.sandbox, "a.txt"), atime, mtime);
    utimesSync(join(it.sandbox, "dir/b"), 1, 1);
    expect(it.seen()).toEqual({ "a.txt": "changed file" });
  });

  test("of 100 GiB of nothing is refused without being read", () => {
    const it = tree();
    writeFileSync(join(it.sandbox, "sparse"), "");
    truncateSync(join(it.sandbox, "sparse"), 100 * 1024 ** 3);
    expect(it.apply()).toEqual({
      sparse: "refused: its content is too large, or could not be read without a change",
    });
  });

  test("in an immutable or read-only place is refused, and leaves nothing", () => {
    const it = tree();
    appendFileSync(join(it.sandbox, "dir/b"), "new\n");
    const isRoot = process.getuid?.() === 0;
    if (isRoot) execFileSync("chattr", ["+i", join(it.host, "dir/b")]);
    else chmodSync(join(it.host, "dir"), 0o555);
    it.mount();
    try {
      expect(it.apply()["dir/b"]).toMatch(/^refused: /);
      expect([content(join(it.host, "dir/b")), leftovers(it.host)]).toEqual(["b\n", []]);
    } finally {
      if (isRoot) execFileSync("chattr", ["-i", join(it.host, "dir/b")]);
      else chmodSync(join(it.host, "dir"), 0o755);
    }
  });
});

describe("what is no file", () => {
  test("is refused, and a pipe is not waited for", () => {
    const it = tree();
    execFileSync("mkfifo", [join(it.sandbox, "pipe")]);
    execFileSync("python3", [
      "-c",
      `import socket; socket.socket(socket.AF_UNIX).bind("${it.sandbox}/socket")`,
    ]);
    const refusal = "refused: devices, sockets and pipes are not written";
    expect(it.apply()).toEqual({ pipe: refusal, socket: refusal });
    unlinkSync(join(it.sandbox, "a.txt"));
    execFileSync("mkfifo", [join(it.sandbox, "a.txt")]);
    expect(it.apply(["a.txt"])).toEqual({ "a.txt": refusal });
    expect(content(join(it.host, "a.txt"))).toBe("old\n");
  });

  test("such as a planted mark of the overlay is refused, and is no removal", { tags: ["root"] }, () => {
    const it = tree();
    unlinkSync(join(it.sandbox, "a.txt"));
    execFileSync("mknod", [join(it.sandbox, "a.txt"), "c", "0", "0"]);
    writeFileSync(join(it.sandbox, ".wh.b"), "");
    expect(it.seen()).toEqual({ ".wh.b": "added file", "a.txt": "changed other" });
    expect(it.apply()["a.txt"]).toMatch(/^refused/);
    expect(existsSync(join(it.host, "dir/b"))).toBe(true);
  });
});

describe("a name", () => {
  test("keeps its bytes, also if they are no UTF-8, and may have 255 of them", () => {
    const it = tree();
    const names = [
      Buffer.from([0x66, 0xe9, 0xff, 0x6f]),
      Buffer.from("é\u202e\n\u001b[31m"),
      Buffer.alloc(255, 0x78),
      Buffer.from([0xed, 0xa0, 0x80]),
    ];
    for (const name of names) writeFileSync(Buffer.concat([Buffer.from(`${it.sandbox}/`), name]), "x");
    const paths = it.changes().map(({ path }) => path);
    for (const path of paths) expect(bytePathOf(textOf(path))).toBe(path);
    expect(textOf(names[0]?.toString("latin1") ?? "")).toBe("f\udce9\udcffo");
    const characters = Buffer.from("é€😀\0").toString("latin1");
    expect(textOf(`\xff${characters}\xf0\x9f\x98`)).toBe("\udcffé€😀\0\udcf0\udc9f\udc98");
    expect(Object.values(it.apply())).toEqual(Array(4).fill("applied"));
    const made = readdirSync(it.host, { encoding: "buffer" });
    for (const name of names) expect(made.some((other) => other.equals(name))).toBe(true);
  });

  test("of the version control is refused unless it is named for itself", () => {
    const it = tree();
    mkdirSync(join(it.sandbox, ".git/hooks"), { recursive: true });
    writeFileSync(join(it.sandbox, ".git/hooks/pre-commit"), "x");
    const results = it.apply();
    expect(
      Object.values(results).every((result) => result.startsWith("refused: it belongs to the version")),
    ).toBe(true);
    expect(it.apply([{ path: ".git/hooks/pre-commit", control: true }])).toEqual({
      ".git/hooks/pre-commit": "applied",
    });
    // A path has a character for each byte, and is judged as text.
    expect(isVersionControl(bytePathOf(".g\u200cit/x"))).toBe(true);
  });

  test("that is no UTF-8 is decoded as fast as others", () => {
    const path = `${"\xff".repeat(255)}/`.repeat(16);
    const started = performance.now();
    for (let round = 0; round < 200; round += 1) textOf(path);
    expect(performance.now() - started).toBeLessThan(5000);
  });

  test("with a path of more than 4,096 bytes is left out, and its directory says so", () => {
    const it = tree();
    const name = "n".repeat(255);
    // No call takes such a path as a whole.
    const inEach = `import os
for each in range(16): os.mkdir("${name}"); os.chdir("${name}")
for each in "abcd": os.mkdir(each)`;
    execFileSync("python3", ["-c", inEach], { cwd: it.sandbox });
    onTestFinished(() => void execFileSync("rm", ["-r", join(it.sandbox, name)]));
    expect(it.changes().map(({ path, skipped }) => [path.length, skipped])).toEqual([
      [4095, 4],
      ...Array.from({ length: 15 }, (_, index) => [3839 - index * 256, undefined]),
    ]);
    mkdirSync(join(it.host, Array(15).fill(name).join("/")), { recursive: true });
    it.mount();
    expect(it.changes()).toMatchObject([{ kind: "added", type: "directory", skipped: 4 }]);
  });

  test("below more than 256 directories is not looked for, and a path beyond 4,096 bytes is refused", () => {
    const it = tree();
    const deep = Array(300).fill("d").join("/");
    mkdirSync(join(it.sandbox, deep), { recursive: true });
    expect(it.changes()).toHaveLength(256);
    const path = Array(30).fill("x".repeat(200)).join("/");
    const change = { path, kind: "added", type: "file", digest: "0".repeat(64) } as const;
    expect(it.apply(undefined, { changes: [change] })[path]).toContain("longer than 4096 bytes");
  });
});

describe("a directory", () => {
  test("takes the place of a file only if both are accepted and the file is unchanged", () => {
    const it = tree();
    unlinkSync(join(it.sandbox, "a.txt"));
    mkdirSync(join(it.sandbox, "a.txt"));
    writeFileSync(join(it.sandbox, "a.txt/x"), "x");
    expect(it.apply(["a.txt/x"])).toEqual({
      "a.txt/x": "refused: a link or a file is in the place of its directory",
    });
    expect(content(join(it.host, "a.txt"))).toBe("old\n");
    appendFileSync(join(it.host, "a.txt"), "host\n");
    expect(it.apply()["a.txt"]).toBe(changedSince);
    it.mount();
    expect(it.apply()).toEqual({ "a.txt": "applied", "a.txt/x": "applied" });
  });

  test("is not replaced by a file if the host added to it", () => {
    const it = tree();
    rmSync(join(it.sandbox, "dir"), { recursive: true });
    writeFileSync(join(it.sandbox, "dir"), "now a file");
    const review = it.changes();
    writeFileSync(join(it.host, "dir/added"), "host");
    const stays = "conflict: 1 of its entries were added or changed since, and stay";
    expect(it.apply(undefined, { changes: review })).toEqual({ dir: stays });
    expect(readdirSync(join(it.host, "dir"))).toContain("added");
  });

  test("that was removed loses what was known, and keeps what the host added", () => {
    const it = tree({ "dir/b": "b", "dir/sub/c": "c", "dir/sub/d": "d" });
    rmSync(join(it.sandbox, "dir"), { recursive: true });
    expect(it.changes()).toMatchObject([{ path: "dir", kind: "removed", entries: 4 }]);
    expect(it.apply(["dir/sub/d"])).toEqual({ "dir/sub/d": "applied" });
    writeFileSync(join(it.host, "dir/sub/added"), "host");
    expect(it.apply()).toEqual({ dir: "conflict: 1 of its entries were added or changed since, and stay" });
    expect(readdirSync(join(it.host, "dir"), { recursive: true }).sort()).toEqual(["sub", "sub/added"]);
  });

  test("with a temporary file of an apply that was killed gets rid of it", () => {
    const it = tree();
    const name = ".cloud-sandbox-0123456789abcdef";
    linkSync(join(it.host, "a.txt"), join(it.host, name));
    utimesSync(join(it.host, name), 1, 1);
    it.mount();
    appendFileSync(join(it.sandbox, "a.txt"), "new\n");
    expect(it.apply(["a.txt"])["a.txt"]).toMatch(/^applied/);
    expect([leftovers(it.host), content(join(it.host, "a.txt"))]).toEqual([[], "old\nnew\n"]);
  });
});

describe("a review binds", () => {
  const reviewed = "#!/bin/sh\n";
  test.each<[what: string, prepare: (sandbox: string) => void, later: (sandbox: string) => void]>([
    [
      "a change, which is a removal later",
      (at) => writeFileSync(join(at, "a.txt"), "new\n"),
      (at) => unlinkSync(join(at, "a.txt")),
    ],
    [
      "a file, which is a directory later",
      (at) => writeFileSync(join(at, "a.txt"), "new\n"),
      (at) => {
        unlinkSync(join(at, "a.txt"));
        mkdirSync(join(at, "a.txt"));
      },
    ],
    [
      "a file, which is a link with its digest later",
      (at) => writeFileSync(join(at, "a.txt"), "dir"),
      (at) => {
        unlinkSync(join(at, "a.txt"));
        symlinkSync("dir", join(at, "a.txt"));
      },
    ],
    [
      "that a file cannot be executed",
      (at) => writeFileSync(join(at, "a.txt"), reviewed),
      (at) => chmodSync(join(at, "a.txt"), 0o755),
    ],
    [
      "a file too large to read, which is small later",
      (at) => truncateSync(join(at, "a.txt"), 2 ** 40),
      (at) => writeFileSync(join(at, "a.txt"), "new\n"),
    ],
    [
      "a removal, which is undone later",
      (at) => unlinkSync(join(at, "a.txt")),
      (at) => writeFileSync(join(at, "a.txt"), "old\n"),
    ],
  ])("%s", (_, prepare, later) => {
    const it = tree();
    prepare(it.sandbox);
    const review = it.changes();
    later(it.sandbox);
    expect(it.apply(review)).toEqual({ "a.txt": changedSinceReview });
    const { mode } = lstatSync(join(it.host, "a.txt"));
    expect([content(join(it.host, "a.txt")), mode & 0o111]).toEqual(["old\n", 0]);
  });

  test("only the digest, if no more is given", () => {
    const it = tree();
    writeFileSync(join(it.sandbox, "a.txt"), "new\n");
    const [digest] = it.changes().map((change) => change.digest);
    chmodSync(join(it.sandbox, "a.txt"), 0o755);
    expect(it.apply([{ path: "a.txt", digest }])).toEqual({ "a.txt": "applied" });
    unlinkSync(join(it.sandbox, "a.txt"));
    expect(it.apply([{ path: "a.txt", digest }])).toEqual({ "a.txt": changedSinceReview });
    expect(it.apply(["a.txt"])).toEqual({ "a.txt": "applied" });
  });
});

describe("a directory with a repository in it", () => {
  const inside =
    "refused: the directory has parts of the version control in it, and is removed or replaced only";
  test.each<[what: string, replace: (path: string) => void, seen: string]>([
    ["removed", () => undefined, "removed directory"],
    ["replaced by a file", (path) => writeFileSync(path, "x"), "changed file"],
    ["replaced by a link", (path) => symlinkSync("a.txt", path), "changed link"],
  ])("is %s only with control", (_, replace, seen) => {
    const it = tree({ "a.txt": "old\n", "lib/x/.GIT/hooks/pre-commit": "x", "lib/x/b": "b" });
    rmSync(join(it.sandbox, "lib"), { recursive: true });
    replace(join(it.sandbox, "lib"));
    expect(it.seen()).toEqual({ lib: seen });
    expect(it.changes()).toMatchObject([{ entries: 5, hasVersionControl: true }]);
    expect(it.apply().lib).toContain(inside);
    expect(it.apply(["lib"], { check: true }).lib).toContain(inside);
    expect(readdirSync(join(it.host, "lib/x")).sort()).toEqual([".GIT", "b"]);
    expect(it.apply([{ path: "lib", control: true }])).toEqual({ lib: "applied" });
    expect(existsSync(join(it.host, "lib/x"))).toBe(false);
  });

  test("is removed up to it, below a directory that code removed", () => {
    const it = tree({ "lib/x/.git": "gitdir: ../.git", "lib/y/b": "b" });
    rmSync(join(it.sandbox, "lib"), { recursive: true });
    const outcomes = it.apply(["lib/x", "lib/y"]);
    expect(outcomes["lib/x"]).toContain(inside);
    expect([outcomes["lib/y"], readdirSync(join(it.host, "lib"))]).toEqual(["applied", ["x"]]);
  });
});

test("a file is applied before the directory that it is in", () => {
  const it = tree({});
  mkdirSync(join(it.sandbox, "new/deep"), { recursive: true });
  writeFileSync(join(it.sandbox, "new/deep/x"), "x");
  const review = it.changes();
  expect(it.apply(["new/deep/x"])).toEqual({ "new/deep/x": "applied" });
  const already = "applied: the directory has it already";
  expect(it.apply(review)).toEqual({ new: already, "new/deep": already, "new/deep/x": already });
});

test("a full disk leaves the file as it was, and ends the apply", { tags: ["root"] }, () => {
  const it = tree({});
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", it.host]);
  try {
    writeFileSync(join(it.host, "a"), "old");
    it.mount();
    for (const name of ["a", "b"]) writeFileSync(join(it.sandbox, name), Buffer.alloc(256 * 1024, 1));
    expect(it.apply(["a", "b"])).toEqual({
      a: "refused: the disk is full",
      b: "refused: nothing more was written: the disk is full",
    });
    expect([content(join(it.host, "a")), leftovers(it.host)]).toEqual(["old", []]);
  } finally {
    execFileSync("umount", ["--lazy", it.host]);
  }
});

test("another file system below the directory is not written to", { tags: ["root"] }, () => {
  const it = tree();
  execFileSync("mount", ["-t", "tmpfs", "tmpfs", join(it.host, "dir")]);
  try {
    writeFileSync(join(it.sandbox, "dir/new"), "x");
    mkdirSync(join(it.sandbox, "dir/deep/er"), { recursive: true });
    writeFileSync(join(it.sandbox, "dir/deep/er/new"), "x");
    expect(it.apply(["dir/new", "dir/deep/er/new"])).toEqual({
      "dir/new": "refused: another file system is mounted there",
      "dir/deep/er/new": "refused: another file system is mounted there",
    });
    expect(readdirSync(join(it.host, "dir"))).toEqual([]);
  } finally {
    execFileSync("umount", ["--lazy", join(it.host, "dir")]);
  }
});

test("a check says the same as the apply, and writes nothing", () => {
  const it = tree();
  appendFileSync(join(it.sandbox, "a.txt"), "new\n");
  rmSync(join(it.sandbox, "dir"), { recursive: true });
  mkdirSync(join(it.sandbox, "new"));
  writeFileSync(join(it.sandbox, "new/x"), "x");
  const checked = it.apply(undefined, { check: true });
  expect(readdirSync(it.host).sort()).toEqual(["a.txt", "dir"]);
  expect(lstatSync(join(it.host, "a.txt")).size).toBe(4);
  expect(it.apply()).toEqual(checked);
  expect(it.apply(Object.keys(checked))).toEqual(
    Object.fromEntries(Object.keys(checked).map((path) => [path, "applied: the directory has it already"])),
  );
});
