import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { text } from "node:stream/consumers";
import { SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runBuilt, runBuiltForBytes } from "../support/built-program.js";
import { root } from "../support/documents/code-blocks.js";
import { descendants, hostProcesses } from "../support/host-processes.js";
import { type LocalServer, startLocalServer } from "../support/local-server.js";
import { SmallDirectory } from "../support/small-directory.js";
import { CutProxy } from "./support/cut-proxy.js";

let server: LocalServer;
let client: SandboxClient;
let remote: Record<string, string>;

beforeAll(async () => {
  server = await startLocalServer({ args: ["--pool", "1"] });
  client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
  remote = { CLOUD_SANDBOX_API_KEY: server.apiKey, CLOUD_SANDBOX_BASE_URL: server.url };
});
afterAll(async () => {
  await client?.close();
  await server?.stop();
});

describe("cloud-sandbox run", () => {
  test.each([
    ["code that it is given", ["--code", "print('out')"], ""],
    ["a program on standard input", [], "print('out')"],
    ["a program with a byte order mark", [], "\ufeffprint('out')"],
    ["another language", ["-l", "javascript", "-c", "console.log('out')"], ""],
    [
      "TypeScript",
      ["-l", "ts", "-c", "enum Word { Out = 'out' }\nconst text: string = Word.Out; console.log(text)"],
      "",
    ],
    ["variables", ["-l", "bash", "-c", "echo $WHAT", "--env", "WHAT=out"], ""],
    [
      "variables of this environment",
      [
        "-l",
        "bash",
        "-c",
        'test -n "$CLOUD_SANDBOX_BASE_URL" && echo out',
        "--env",
        "CLOUD_SANDBOX_BASE_URL",
      ],
      "",
    ],
  ])("runs %s", async (_, args, input) => {
    expect(await runBuilt("cli", ["run", ...args], { env: remote, input })).toEqual({
      code: 0,
      stdout: "out\n",
      stderr: "",
    });
  });

  test.each([
    [
      "where.PY",
      "import os, sys; print(os.path.basename(__file__), os.path.basename(sys.argv[0]))",
      "where.PY where.PY\n",
    ],
    ["where.js", "console.log(require('path').basename(process.argv[1]))", "where.js\n"],
    [
      "where.mjs",
      "import { basename } from 'node:path';\nexport default basename(import.meta.filename);\nconsole.log(basename(process.argv[1]))",
      "where.mjs\n",
    ],
    [
      "where.mts",
      "export type Name = string;\nexport const name: Name = 'typed';\nconsole.log(name)",
      "typed\n",
    ],
    ["shell", '#!/bin/bash\n[ -n "$BASH_VERSION" ] && echo bash', "bash\n"],
    ["node", "#!/usr/bin/env -S node --no-warnings\nconsole.log('node')", "node\n"],
    ["python", "#!/usr/bin/python3.11 -u\nprint('python')", "python\n"],
  ])("runs the file %s as what it is", async (name, code, stdout) => {
    const file = join(await mkdtemp(join(tmpdir(), "run-file-")), name);
    await writeFile(file, code);
    expect(await runBuilt("cli", ["run", file], { env: remote })).toEqual({ code: 0, stdout, stderr: "" });
    await rm(dirname(file), { recursive: true });
  });

  test.each(["where.ts", "where.mts", "where.cts", "where.TS"])(
    "gives arguments to the TypeScript program %s",
    async (name) => {
      const file = join(await mkdtemp(join(tmpdir(), "run-file-")), name);
      await writeFile(file, "const text: string = process.argv.slice(2).join(' '); console.log(text)");
      const ended = await runBuilt("cli", ["run", file, "--", "a", "b"], { env: remote });
      expect(ended).toEqual({ code: 0, stdout: "a b\n", stderr: "" });
      await rm(dirname(file), { recursive: true });
    },
  );

  test("refuses a file whose first line names an interpreter that is none here", async () => {
    const { code, stderr } = await runBuilt("cli", ["run"], {
      env: remote,
      input: "#!/usr/bin/perl\nprint 1;",
    });
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/asks for perl.*--language/s);
  });

  test.each([
    ["alone", []],
    ["in a sandbox", ["--", "x"]],
  ])("passes a program's bytes on, %s", async (_, more) => {
    const code =
      "import sys; sys.stdout.buffer.write(bytes(range(256)) * 4096); sys.stderr.buffer.write(b'\\xff')";
    const ended = await runBuiltForBytes("cli", ["run", "-c", code, ...more], { env: remote });
    const bytes = Buffer.from(Array.from({ length: 256 * 4096 }, (_, index) => index % 256));
    expect(ended).toEqual({ code: 0, stdout: bytes, stderr: Buffer.from([255]) });
  });

  test("takes over the program's exit code and standard error", async () => {
    const ended = await runBuilt("cli", ["run", "-l", "bash", "-c", "echo oops >&2; exit 7"], {
      env: remote,
    });
    expect(ended).toEqual({ code: 7, stdout: "", stderr: "oops\n" });
  });

  test("takes over the exit code of a Go program that has arguments", { tags: ["golang-go"] }, async () => {
    const code = 'package main\nimport "os"\nfunc main() { print(os.Args[1]); os.Exit(7) }';
    const ended = await runBuilt("cli", ["run", "-l", "go", "-c", code, "--", "a b"], { env: remote });
    expect(ended).toEqual({ code: 7, stdout: "", stderr: "a b" });
  });

  test("says that a program ran out of time, and how to give it more", async () => {
    const { code, stderr } = await runBuilt("cli", ["run", "-l", "bash", "-t", "1", "-c", "sleep 60"], {
      env: remote,
    });
    expect(code).toBe(124);
    expect(stderr).toContain("--timeout");
  });

  test("says which signal has ended a program", async () => {
    const { code, stderr } = await runBuilt("cli", ["run", "-c", "import os; os.abort()"], { env: remote });
    expect([code, stderr]).toEqual([134, "cloud-sandbox: the program was ended by SIGABRT.\n"]);
  });

  test("ends when it is interrupted, and leaves no sandbox behind", async () => {
    const main = join(root, "packages/cli/dist/main.js");
    // A program with arguments has a sandbox of its own.
    const args = ["run", "-l", "bash", "-c", "sleep 60", "--", "argument"];
    const child = spawn(process.execPath, [main, ...args], {
      env: { PATH: process.env.PATH, ...remote },
      stdio: "ignore",
    });
    await expect.poll(() => countSandboxes()).toBe(1);
    child.kill("SIGINT");
    expect(await once(child, "exit")).toEqual([130, null]);
    expect(await countSandboxes()).toBe(0);
  });

  test("ends when it is interrupted while it reads its program", async () => {
    const main = join(root, "packages/cli/dist/main.js");
    const child = spawn(process.execPath, [main, "run"], {
      env: { PATH: process.env.PATH, ...remote },
      stdio: ["pipe", "ignore", "pipe"],
    });
    child.stdin.write("print(");
    // Wait until the command handles all signals. It adds its handler for SIGHUP last, and Node.js has none of its own
    // for it.
    await expect.poll(() => handles(child.pid, 1)).toBe(true);
    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([143, null]);
  });

  test("ends when it is told to, also while nobody reads its output", async () => {
    const main = join(root, "packages/cli/dist/main.js");
    const child = spawn(process.execPath, [main, "run", "-l", "bash", "-c", "yes"], {
      env: { PATH: process.env.PATH, ...remote },
      stdio: ["ignore", "pipe", "ignore"],
    });
    // Far more follows until the program ends than a pipe holds.
    let read = 0;
    for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
      read += chunk.length;
      if (read > 1_000_000) break;
    }
    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([143, null]);
    expect(await countSandboxes()).toBe(0);
  });

  test("ends quietly if the reader of its output goes away", async () => {
    const main = join(root, "packages/cli/dist/main.js");
    const child = spawn(
      "sh",
      ["-c", '"$0" "$1" run -c "for i in range(100000): print(i)" | head -1', process.execPath, main],
      { env: { PATH: process.env.PATH, ...remote }, stdio: ["ignore", "pipe", "pipe"] },
    );
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    expect({ stdout, stderr }).toEqual({ stdout: "0\n", stderr: "" });
  });

  test("tells of a connection that broke, and not of the delete that it made impossible", async () => {
    const proxy = await CutProxy.start(server.url);
    const main = join(root, "packages/cli/dist/main.js");
    const args = ["run", "-l", "bash", "-c", "echo begun; sleep 98214", "--", "argument"];
    const child = spawn(process.execPath, [main, ...args], {
      env: { PATH: process.env.PATH, ...remote, CLOUD_SANDBOX_BASE_URL: proxy.url },
      stdio: ["ignore", "pipe", "pipe"],
    });
    await once(child.stdout, "data");
    await proxy.stop();
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
    expect({ code, stderr }).toEqual({ code: 125, stderr: expect.stringMatching(/look at its effects/) });
    for await (const { id } of client.sandboxes.list()) await client.sandboxes.delete(id);
  });

  test("says that what a program prints could not be written, and does not call that a success", async () => {
    const main = join(root, "packages/cli/dist/main.js");
    const child = spawn("sh", ["-c", '"$0" "$1" run -c "print(1)" >/dev/full', process.execPath, main], {
      env: { PATH: process.env.PATH, ...remote },
      stdio: ["ignore", "ignore", "pipe"],
    });
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
    expect({ code, stderr }).toEqual({
      code: 125,
      stderr: expect.stringMatching(/output could not be written: ENOSPC/),
    });
  });

  test("prints output as it arrives, and all that has arrived when it is interrupted", async () => {
    const main = join(root, "packages/cli/dist/main.js");
    const child = spawn(process.execPath, [main, "run", "-l", "bash", "-c", "echo begun; sleep 98213"], {
      env: { PATH: process.env.PATH, ...remote },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [first] = await once(child.stdout.setEncoding("utf8"), "data");
    expect(first).toBe("begun\n");
    child.kill("SIGINT");
    const [stderr, [exitCode]] = await Promise.all([text(child.stderr), once(child, "exit")]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 130, stderr: "cloud-sandbox: interrupted.\n" });
    expect(await countSandboxes()).toBe(0);
    const programs = () => descendants(server.pid).filter(({ commandLine }) => commandLine === "sleep 98213");
    await expect.poll(programs).toEqual([]);
  });

  test("prints long output completely", async () => {
    const { code, stdout, stderr } = await runBuilt("cli", ["run", "-c", "print('x' * 5_000_000)"], {
      env: remote,
    });
    expect({ code, length: stdout.length, stderr }).toEqual({ code: 0, length: 5_000_001, stderr: "" });
  });

  test.each([
    ["python", "import sys; print(sys.argv[1:])", "['a b', '-c', '--']\n"],
    ["javascript", "console.log(process.argv.slice(2))", "[ 'a b', '-c', '--' ]\n"],
    ["bash", 'printf "%s," "$@"', "a b,-c,--,"],
  ])("gives a program in %s its arguments", async (language, code, stdout) => {
    const args = ["run", "-l", language, "-c", code, "--", "a b", "-c", "--"];
    expect(await runBuilt("cli", args, { env: remote })).toEqual({ code: 0, stdout, stderr: "" });
  });

  test("with --json prints a line for each piece of output and for the end", async () => {
    const code = "import sys; print('out'); sys.stdout.flush(); print('err', file=sys.stderr); sys.exit(3)";
    const ended = await runBuilt("cli", ["run", "--json", "-c", code], { env: remote });
    expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code: 3, stderr: "" });
    expect(jsonLines(ended.stdout)).toEqual([
      { type: "stdout", text: "out\n" },
      { type: "stderr", text: "err\n" },
      {
        type: "result",
        exitCode: 3,
        success: false,
        executionTimeSeconds: expect.any(Number),
        terminationReason: "exit",
        richOutputs: [],
        plots: [],
      },
    ]);
  });

  test("saves plots where it is told to, and shows them in terminals that can", async () => {
    const directory = await mkdtemp(join(tmpdir(), "plots-"));
    try {
      const code = `display({"image/png": "${onePixel}"}, raw=True)`;
      const saved = await runBuilt("cli", ["run", "-c", code, "--save-plots", join(directory, "new")], {
        env: remote,
      });
      const path = join(directory, "new", "plot-1.png");
      expect(saved).toEqual({ code: 0, stdout: "", stderr: `cloud-sandbox: plot saved in ${path}\n` });
      expect((await readFile(path)).toString("base64")).toBe(onePixel);

      const piped = await runBuilt("cli", ["run", "-c", code], { env: remote });
      expect(piped.stderr).toContain("--save-plots");

      const main = join(root, "packages/cli/dist/main.js");
      const command = `${process.execPath} ${main} run -c '${code}'`;
      const shown = spawn("script", ["-qec", command, "/dev/null"], {
        env: { PATH: process.env.PATH, TERM_PROGRAM: "WezTerm", TMPDIR: directory, ...remote },
        stdio: ["ignore", "pipe", "inherit"],
      });
      expect(await text(shown.stdout)).toContain(`:${onePixel}\u0007`);
      expect(await readdir(directory)).toEqual(["new"]);
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  test("refuses a directory for plots that cannot be made, before the program runs", async () => {
    const directory = join(root, "package.json");
    const ended = await runBuilt("cli", ["run", "-c", "print(1)", "--save-plots", directory], {
      env: remote,
    });
    const stderr = `cloud-sandbox: Plots cannot be saved in ${directory} (EEXIST). Give --save-plots another directory.\n`;
    expect(ended).toEqual({ code: 125, stdout: "", stderr });
  });

  test("saves plots beside what code in the sandbox puts in their place, and leaves out what is no plot", async () => {
    const directory = await mkdtemp(join(tmpdir(), "plots-"));
    try {
      const victim = join(directory, "victim");
      await writeFile(victim, "precious");
      const plots = join(directory, "plots");
      await mkdir(plots);
      await symlink(victim, join(plots, "plot-1.svg"));
      await mkdir(join(plots, "plot-3.png"));
      const displays = ['"image/svg+xml": "<svg/>"', '"constructor": "x"', '"image/png": "no base64!"'];
      const code = displays.map((data) => `display({${data}}, raw=True)`).join("\n");
      const save = (text: string) =>
        runBuilt("cli", ["run", "-c", text, "--save-plots", plots], { env: remote });
      const saved = await save(code);
      expect(saved.stderr.split("\n")).toEqual([
        "cloud-sandbox: plots left out, because their base64 is not valid: 1.",
        `cloud-sandbox: plot saved in ${join(plots, "plot-1.svg")}`,
        "",
      ]);
      expect(saved.code).toBe(0);
      expect(await readFile(victim, "utf8")).toBe("precious");
      expect(await readFile(join(plots, "plot-1.svg"), "utf8")).toBe("<svg/>");

      const picture = `display({"image/png": "${onePixel}"}, raw=True)`;
      const refused = await save(`${picture}\n${picture}\n${picture}`);
      expect(refused.code).toBe(125);
      expect(refused.stderr).toContain(
        "plot-3.png cannot be written (ERR_FS_EISDIR). Give --save-plots another directory.",
      );
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  test("leaves no process behind when it is interrupted with a local backend", async () => {
    const main = join(root, "packages/cli/dist/main.js");
    const child = spawn(process.execPath, [main, "run", "-l", "bash", "-c", "sleep 60"], {
      env: { PATH: process.env.PATH },
      stdio: "ignore",
    });
    const running = (): boolean =>
      descendants(child.pid ?? 0).some(({ commandLine }) => commandLine === "sleep 60");
    await expect.poll(running).toBe(true);
    const started = descendants(child.pid ?? 0);
    child.kill("SIGINT");
    await once(child, "exit");
    const named = (processes: typeof started): string[] =>
      processes.map(({ pid, commandLine }) => `${pid} ${commandLine}`);
    const left = (): string[] => {
      const now = named(hostProcesses());
      return named(started).filter((name) => now.includes(name));
    };
    await expect.poll(left).toEqual([]);
  });
});

test("run ends also if its directory for caches is one in which nothing can be made", async () => {
  const ended = await runBuilt("cli", ["run", "-c", "print('out')"], { env: { XDG_CACHE_HOME: "/proc" } });
  expect(ended).toEqual({ code: 0, stdout: "out\n", stderr: "" });
});

test("run leaves no file behind if the path of the directory for temporary files is relative", async () => {
  const place = await mkdtemp(join(tmpdir(), "relative-"));
  try {
    const ended = await runBuilt("cli", ["run", "-c", "print('out')"], {
      env: { TMPDIR: relative(process.cwd(), place) },
    });
    expect(ended).toEqual({ code: 0, stdout: "out\n", stderr: "" });
    await expect.poll(() => readdir(place)).toEqual([]);
  } finally {
    await rm(place, { recursive: true });
  }
});

test("run uses a directory for temporary files on a file system without a size", {
  tags: ["mount"],
}, async () => {
  using place = new SmallDirectory(0);
  const { code, stderr } = await runBuilt("cli", ["run", "-c", "1"], { env: { TMPDIR: place.path } });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
});

test("run shows what the backend on this machine has logged about a failure for an internal reason", async () => {
  const place = await mkdtemp(join(tmpdir(), "programs-"));
  try {
    await writeFile(join(place, "perl"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
    const env = { PATH: `${place}:${process.env.PATH}` };
    const { code, stderr } = await runBuilt("cli", ["run", "-c", "1"], { env });
    expect(code).toBe(125);
    expect(stderr).toMatch(
      /under request id (\S+) .*\ncloud-sandbox: .*\(\1\): Error: files for sandboxes could not/,
    );
    const asJson = await runBuilt("cli", ["run", "-c", "1", "--json"], { env });
    expect(JSON.parse(asJson.stderr).error).toMatchObject({
      code: "INTERNAL_ERROR",
      log: [expect.stringContaining("Error: files for sandboxes could not")],
    });
  } finally {
    await rm(place, { recursive: true });
  }
});

describe("cloud-sandbox run tells in one line what is wrong, for", () => {
  const cases: [string, string[], () => Record<string, string> | Promise<Record<string, string>>, RegExp][] =
    [
      [
        "no key for the cloud",
        ["-c", "1"],
        () => ({ CLOUD_SANDBOX_BACKEND: "cloud" }),
        /CLOUD_SANDBOX_API_KEY/,
      ],
      ["a variable without a value", ["-c", "1", "-e", "NAME"], () => remote, /NAME=value/],
      ["a file that may not be used as a program", ["/etc"], () => remote, /is a directory/],
      [
        "a backend that there is not",
        ["-c", "1"],
        () => ({ CLOUD_SANDBOX_BACKEND: "moon" }),
        /cloud or .*local/,
      ],
      ["a wrong key", ["-c", "1"], () => ({ ...remote, CLOUD_SANDBOX_API_KEY: "wrong-key" }), /API.key/i],
      ["an unknown template", ["-c", "1", "--template", "nope"], () => remote, /Template "nope" not found/],
      [
        "an unknown language",
        ["-c", "1", "-l", "cobol"],
        () => remote,
        /python, javascript|python.*javascript/,
      ],
      ["a file that there is not", ["/no/such/file.py"], () => remote, /does not exist/],
      ["a file without a name", [""], () => remote, /path of the program is empty.*--code/s],
      ["a file that never ends", ["/dev/zero"], () => remote, /larger than 32 MiB/],
      [
        "a file in another encoding",
        ["/bin/true", "-l", "python"],
        () => remote,
        /is not UTF-8 text\. Save it as UTF-8\./,
      ],
      [
        "a directory for temporary files that there is not",
        ["-c", "1"],
        () => ({ TMPDIR: "/no/such/directory" }),
        /\/no\/such\/directory, cannot be written to; set TMPDIR/,
      ],
      ["code in place of a file", ["import sys; print(sys.path)"], () => remote, /does not exist.*--code/s],
      ["much code in place of a file", ["print(1);".repeat(500)], () => remote, /too long.*--code/s],
      [
        "no valid TypeScript",
        ["-l", "ts", "-c", "const x: = 1"],
        () => remote,
        /main\.ts is no valid TypeScript: .*1:10/,
      ],
      ["both a file and code", ["-c", "1", "file.py"], () => remote, /not both/],
      ["a file of an unknown language", ["/etc/nsswitch.conf"], () => remote, /--language/],
      ["a cloud that cannot be reached", ["-c", "1"], unreachable, /127\.0\.0\.1/],
      [
        "a machine without a runtime",
        ["-c", "1"],
        () => ({ PATH: "/nowhere" }),
        /apt-get install bubblewrap/,
      ],
    ];

  test.each(cases)("%s", async (_, args, env, hint) => {
    const { code, stdout, stderr } = await runBuilt("cli", ["run", ...args], { env: await env() });
    expect({ code, stdout }).toEqual({ code: 125, stdout: "" });
    expect(stderr).toMatch(hint);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(stderr).not.toMatch(/wrong-key|test-key|^\s+at /m);
  });

  test.each(["0", "301", "soon"])("a timeout of %s", async (timeout) => {
    const { code, stderr } = await runBuilt("cli", ["run", "-c", "1", "-t", timeout], { env: remote });
    expect(code).toBe(125);
    expect(stderr).toContain("from 1 to 300");
  });
});

const onePixel =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

function jsonLines(output: string): unknown[] {
  return output
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

/** Environment with the address of a port where nothing listens: a server was there, and is closed. */
async function unreachable(): Promise<Record<string, string>> {
  const listener = createServer().listen(0, "127.0.0.1");
  await once(listener, "listening");
  const { port } = listener.address() as { port: number };
  listener.close();
  await once(listener, "close");
  return { CLOUD_SANDBOX_API_KEY: "k", CLOUD_SANDBOX_BASE_URL: `http://127.0.0.1:${port}` };
}

async function countSandboxes(): Promise<number> {
  let count = 0;
  for await (const _ of client.sandboxes.list()) count += 1;
  return count;
}

/** Whether a process has a handler for a signal. The kernel lists them as a bit mask. */
function handles(pid: number | undefined, signal: number): boolean {
  const caught = /^SigCgt:\s+(\w+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? "0";
  return ((BigInt(`0x${caught}`) >> BigInt(signal - 1)) & 1n) === 1n;
}
