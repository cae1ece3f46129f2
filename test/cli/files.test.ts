import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CommandLine, startCommandLine } from "../support/command-line.js";
import { root } from "../support/documents/code-blocks.js";

const main = join(root, "packages/cli/dist/main.js");
let line: CommandLine;
let id: string;
const here = (path: string): string => join(line.directory, path);

beforeAll(async () => {
  line = await startCommandLine();
  id = (await line.output("sandbox", "create", "-q")).trim();
});
afterAll(() => line?.stop());

describe("cloud-sandbox cp", () => {
  test("copies files both ways, under their name or another", async () => {
    await writeFile(here("a.txt"), "a");
    await writeFile(here("b.txt"), "b");
    await line.output("cp", here("a.txt"), `${id}:renamed.txt`);
    expect(await line.output("cp", "-q", here("a.txt"), here("b.txt"), `${id}:`)).toBe("");
    expect(await line.output("cat", `${id}:renamed.txt`, `${id}:b.txt`)).toBe("ab");
    const ended = await line.run(["cat", `${id}:renamed.txt`, `${id}:nope`, `${id}:b.txt`]);
    expect(ended).toMatchObject({ code: 125, stdout: "ab", stderr: expect.stringContaining("nope") });
    expect(await line.json("cp", `${id}:/workspace/b.txt`, here("back.txt"))).toEqual({
      source: `${id}:/workspace/b.txt`,
      path: here("back.txt"),
    });
    expect(await readFile(here("back.txt"), "utf8")).toBe("b");
  });

  test("copies directories both ways, into one that is there or as one that is not", async () => {
    await mkdir(here("tree/deep"), { recursive: true });
    await writeFile(here("tree/deep/file"), "content");
    await mkdir(here("there"));
    await line.output("cp", here("tree"), `${id}:/workspace/`);
    await line.output("cp", here("tree"), `${id}:/workspace/another`);
    await line.output("cp", `${here("tree")}/.`, `${id}:/tmp`);
    const found = await line.output(
      ...["sandbox", "exec", id, "find /workspace/tree /workspace/another /tmp/deep -type f | sort"],
    );
    expect(found).toBe("/tmp/deep/file\n/workspace/another/deep/file\n/workspace/tree/deep/file\n");
    await line.output("cp", `${id}:tree`, here("there"));
    await line.output("cp", `${id}:tree`, here("new"));
    expect(await readdir(here("there/tree/deep"))).toEqual(["file"]);
    expect(await readFile(here("new/deep/file"), "utf8")).toBe("content");
  });

  test("copies what it can of a directory, names the rest, and ends with 1 if content is missing", async () => {
    const script = "mkdir -p odd; cd odd; echo k > keep; ln -s /usr/bin/python3 python";
    await line.output("sandbox", "exec", id, script);
    const links = await line.run(["cp", `${id}:odd`, here("links")]);
    const left = /^cloud-sandbox: .*:odd\/python was not copied: it is a link to \/usr\/bin\/python3, .*\.$/m;
    expect(links).toMatchObject({ code: 0, stderr: expect.stringMatching(left) });
    expect(await readdir(here("links"))).toEqual(["keep"]);
    await line.output("sandbox", "exec", id, "mkfifo odd/pipe");
    const pipes = await line.run(["cp", "-q", `${id}:odd`, here("pipes")]);
    expect(pipes).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/pipe was not copied/),
    });
    const { code, stdout, stderr } = await line.run(["cp", "--json", `${id}:odd`, here("pipes")]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
    expect(JSON.parse(stdout).skipped).toContainEqual({
      path: "pipe",
      reason: "it is a pipe",
      isLink: false,
    });
    await mkdir(here("up"));
    await writeFile(here("up/keep"), "k");
    execFileSync("mkfifo", [here("up/pipe")]);
    expect(await line.run(["cp", here("up"), `${id}:/workspace/`])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/up\/pipe was not copied/),
    });
    expect(await line.output("cat", `${id}:up/keep`)).toBe("k");
  });

  test("copies from standard input and to standard output, any bytes", async () => {
    const sent = await line.run(["cp", "-", `${id}:piped`], "\u0000\u00e9\n");
    expect(sent).toEqual({ code: 0, stdout: expect.stringContaining("piped"), stderr: "" });
    expect(await line.output("cp", `${id}:piped`, "-")).toBe("\u0000\u00e9\n");
    expect((await line.run(["cp", "-", `${id}:empty`])).code).toBe(0);
    expect(await line.output("cp", `${id}:empty`, "-")).toBe("");
  });
});

describe("cloud-sandbox ls, cat, rm", () => {
  test("list, print and remove", async () => {
    await line.output("sandbox", "exec", id, "mkdir -p d && echo 12345 > d/f && touch $'d/\\e[2Jx'");
    expect(await line.output("ls", `${id}:d`)).toMatch(/^NAME +SIZE +CHANGED +MODE\n.\[2Jx +0 .*\nf +6 /);
    expect(await line.output("ls", "-q", `${id}:d/f`)).toBe("f\n");
    expect(await line.json("ls", id)).toContainEqual(
      expect.objectContaining({ name: "d", isDirectory: true }),
    );
    expect(await line.json("cat", `${id}:d/f`)).toEqual({ path: "d/f", content: "12345\n" });
    expect(await line.output("rm", "-r", `${id}:d`)).toBe("d is removed.\n");
  });

  test("print bytes that are no text", async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
    await line.client.sandboxes.connect(id).then(({ files }) => files.write("bytes", bytes));
    for (const args of [
      ["cat", `${id}:bytes`],
      ["cp", `${id}:bytes`, "-"],
    ])
      expect((await line.bytes(args)).stdout).toEqual(bytes);
  });

  test("stop quietly if their reader goes away", async () => {
    await line.output("sandbox", "exec", id, "head -c 50000000 /dev/zero > zeros");
    const child = spawn(
      "bash",
      ["-c", `"$0" "$@" | head -c 3; echo " $PIPESTATUS"`, process.execPath, main, "cat", `${id}:zeros`],
      {
        env: { PATH: process.env.PATH, ...line.env },
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
    expect({ stdout, stderr }).toEqual({ stdout: "\u0000\u0000\u0000 141\n", stderr: "" });
  });
});

describe("one line says what is wrong, for", () => {
  const cases: [string, () => string[], RegExp][] = [
    ["no sandbox", () => ["ls"], /Usage: cloud-sandbox ls \[options\] <id\[:path\]>/],
    ["no file", () => ["cat"], /<id:path\.\.\.>/],
    ["no target", () => ["cp", "a"], /no target/],
    ["two places here", () => ["cp", "a", "b"], /ID:path/],
    ["two sandboxes", () => ["cp", "x:a", "y:b"], /ID:path/],
    ["an unknown sandbox", () => ["cp", "/etc/hosts", "nope:"], /"cloud-sandbox sandbox list"/],
    ["a file that there is not here", () => ["cp", here("nope"), `${id}:`], /nope does not exist/],
    ["a file that there is not there", () => ["cp", `${id}:nope`, here("x")], /"cloud-sandbox ls"/],
    [
      "a place where no file may be",
      () => ["cp", here("a.txt"), `${id}:/etc/x`],
      /\/workspace and \/tmp.* "cloud-sandbox sandbox exec"/,
    ],
    [
      "files to a file",
      () => ["cp", here("a.txt"), here("a.txt"), `${id}:b.txt`],
      /b\.txt exists and is not a directory\. Choose another path, or remove what is there\.$/m,
    ],
    ["a directory to standard output", () => ["cp", `${id}:/workspace`, "-"], /is a directory/],
    ["standard input without a name", () => ["cp", "-", `${id}:/workspace/`], /no name/],
    ["a directory here that there is not", () => ["cp", `${id}:b.txt`, here("no/dir/x")], /no\/dir/],
    [
      "a directory where a file is here",
      () => ["cp", `${id}:/workspace`, here("a.txt")],
      /a\.txt cannot be made: a file is in its place\. Choose another path/,
    ],
    [
      "a directory below a file here",
      () => ["cp", `${id}:b.txt`, `${here("a.txt")}/`],
      /a\.txt\/ cannot be made: a file is in its place\. Choose another path/,
    ],
    ["a directory to remove", () => ["rm", `${id}:tree`], /--recursive/],
    ["a place outside of sandboxes", () => ["ls", "./x:y"], /ID:path/],
    ["a directory to print", () => ["cat", `${id}:/workspace`], /is a directory.*cloud-sandbox ls/],
    ["a file to print that there is not", () => ["cat", `${id}:nope`], /does not exist/],
  ];
  test.each(cases)("%s", async (_, args, hint) => {
    const { code, stderr, stdout } = await line.run(args());
    expect({ code, stdout }).toEqual({ code: 125, stdout: "" });
    expect(stderr).toMatch(hint);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(stderr).not.toMatch(/\w\(\)/);
  });
});
