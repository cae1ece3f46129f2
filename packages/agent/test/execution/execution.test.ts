import { readdirSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { needs } from "../../../../test/support/needs.js";
import { RunningAgent } from "../support/running-agent.js";

let agent: RunningAgent;
beforeAll(async () => {
  agent = await RunningAgent.start();
});
afterAll(() => agent[Symbol.asyncDispose]());
beforeEach(async () => {
  await agent.call("DELETE", "/env");
});

const needsGo = (language: string) => needs("golang-go", language === "go");
/** Go compiles its standard library in the first run, which takes long. */
const forGo = { timeout: 150_000 };

/** A program in each language that writes "out" to stdout and "err" to stderr, and exits with 3. */
const programs = {
  python: 'import sys\nprint("out")\nprint("err", file=sys.stderr)\nsys.exit(3)',
  javascript: 'console.log("out"); console.error("err"); process.exit(3)',
  bash: "echo out; echo err >&2; exit 3",
  go: 'package main\nimport ("fmt"; "os")\nfunc main() { fmt.Println("out"); fmt.Fprintln(os.Stderr, "err"); os.Exit(3) }',
};

test("a package that people expect and that is missing is named once, with what installs it", async () => {
  const code = "import sys\nsys.modules['sklearn'] = None\nimport sklearn";
  const run = async () =>
    (await agent.execute({ code, language: "python", context: "expected" })).body.stderr;
  expect(await run()).toMatch(
    /ModuleNotFoundError: .*\nHint: "pip install scikit-learn" .*cloud-sandbox-local setup/,
  );
  expect(await run()).toMatch(/ModuleNotFoundError: .*\n$/);
});

describe("in every language", () => {
  test.for(Object.entries(programs))(
    "%s keeps outputs apart and tells the exit code",
    forGo,
    async ([language, code], { skip }) => {
      skip(...needsGo(language));
      const { status, body } = await agent.execute({ language, code, timeout: 120 });
      expect(status).toBe(200);
      expect(body).toMatchObject({
        success: false,
        stdout: "out\n",
        stderr: "err\n",
        exit_code: 3,
        language,
        termination_reason: "exit",
        stdout_bytes: 4,
        stdout_truncated: false,
      });
      expect(body.execution_time).toBeGreaterThan(0);
      expect(Date.parse(body.timestamp ?? "")).not.toBeNaN();
    },
  );

  test.for([
    ["python3", "print(1)", "python"],
    ["Python", "print(1)", "python"],
    ["js", "console.log(1)", "javascript"],
    ["node", "console.log(1)", "javascript"],
    ["nodejs", "console.log(1)", "javascript"],
    ["sh", "echo 1", "bash"],
    ["shell", "echo 1", "bash"],
    [undefined, "print(1)", "python"],
  ] as const)("the language %s is understood", async ([language, code, name]) => {
    const { body } = await agent.execute({ code, ...(language && { language }) });
    expect(body).toMatchObject({ stdout: "1\n", success: true, language: name });
  });

  test.for(Object.entries(programs))(
    "%s leaves nothing in the working directory",
    forGo,
    async ([language, code], { skip }) => {
      skip(...needsGo(language));
      const workdir = join(agent.workspace, `empty-${language}`);
      await mkdir(workdir);
      await agent.execute({ language, code, workdir, timeout: 120 });
      expect(readdirSync(workdir)).toEqual([]);
    },
  );

  test.for([
    ["python", 'import os, sys\nprint(os.getcwd(), os.environ["WHO"], repr(sys.stdin.read()))'],
    [
      "javascript",
      "console.log(process.cwd(), process.env.WHO, \"'\" + require('fs').readFileSync(0) + \"'\")",
    ],
    ["bash", `echo "$PWD $WHO '$(cat)'"`],
  ] as const)("%s gets working directory, variables and an empty input", async ([language, code]) => {
    const { body } = await agent.execute({ language, code, workdir: "/", env: { WHO: "me" } });
    expect(body.stdout).toBe("/ me ''\n");
  });

  test.for([
    ["python", `print(len("${"x".repeat(300_000)}é"))`],
    ["javascript", `console.log("${"x".repeat(300_000)}é".length)`],
    ["bash", `text="${"x".repeat(300_000)}é"; echo \${#text}`],
  ] as const)("%s takes code of any length", async ([language, code]) => {
    const { body } = await agent.execute({ language, code });
    expect(body).toMatchObject({ stdout: "300001\n", stderr: "" });
  });
});

const body = { code: "1", command: "true", callback_url: "http://127.0.0.1:9/" };

test.each([
  "/execute",
  "/execute/background",
  "/execute/async",
  "/execute/rich",
  "/commands/run",
  "/commands/background",
])("%s refuses a directory whose name is longer than the kernel takes", async (path) => {
  for (const workdir of ["n".repeat(300), "n".repeat(5000), `/tmp/${"deep/".repeat(1000)}`]) {
    for (const language of ["python", "bash", "javascript"]) {
      const told = await agent.call("POST", path, { ...body, language, workdir, working_dir: workdir });
      expect([told.status, told.body.code]).toEqual([400, "INVALID_REQUEST"]);
    }
  }
});

test.each(["n".repeat(300), "n".repeat(5000), `/tmp/${"deep/".repeat(1000)}x`])(
  "a command whose name is longer than the kernel takes is not found (%#)",
  async (command) => {
    const told = await agent.call("POST", "/commands/run", { command, args: ["x"] });
    expect([told.status, told.body.exit_code]).toEqual([200, 127]);
  },
);

describe("python", () => {
  test("shows a traceback without the agent's own frames, with the lines of the code", async () => {
    const { body } = await agent.execute({ code: 'def f():\n    raise ValueError("x")\n\nf()' });
    expect(body.stderr.replace(/^ +[~^]+\n/gm, "").replaceAll(/execution-\d+/g, "execution")).toBe(
      [
        "Traceback (most recent call last):",
        '  File "execution.py", line 4, in <module>',
        "    f()",
        '  File "execution.py", line 2, in f',
        '    raise ValueError("x")',
        "ValueError: x\n",
      ].join("\n"),
    );
  });

  test.each([
    ["of one line", "a = 10; a + (1 / 0)"],
    ["that ends in a line without an end", "a = 10\n\na + (1 / 0)"],
    ["with the separators of Unicode in it", "a = '\u2028\x0b\x0c'; a = 10\na + (1 / 0)\n"],
    ["with the line ends of Windows", "a = 10\r\na + (1 / 0)\r\n"],
  ])("points at what failed in code %s", async (_, code) => {
    const { body } = await agent.execute({ code });
    const lines = body.stderr.split("\n");
    const [place = -1] = lines.flatMap((line, index) => (/^ +[~^]+$/.test(line) ? [index] : []));
    // Python before 3.11 does not mark the expression in the line.
    if (place < 0) return expect(body.stderr).toMatch(/a \+ \(1 \/ 0\)\n/);
    expect(lines[place]?.length).toBe((lines[place - 1] ?? "").indexOf("1 / 0") + "1 / 0".length);
  });

  test("points at a syntax error", async () => {
    const { body } = await agent.execute({ code: "x = (" });
    expect(body).toMatchObject({ exit_code: 1, stdout: "" });
    expect(body.stderr).toMatch(/^ {2}File "execution-\d+.py", line 1\n.*SyntaxError/s);
  });

  test("runs as __main__, with only its own names", async () => {
    const { body } = await agent.execute({
      code: 'print(__name__, sorted(name for name in globals() if not name.startswith("__")))',
      context: "new",
    });
    expect(body.stdout).toBe("__main__ []\n");
  });

  test("knows its own source", async () => {
    const { body } = await agent.execute({
      code: "import inspect\ndef f():\n    return 1\nprint(inspect.getsource(f))",
    });
    expect(body.stdout).toBe("def f():\n    return 1\n\n");
  });

  test("imports modules and packages from the working directory", async () => {
    const workdir = join(agent.workspace, "python-project");
    await mkdir(join(workdir, "package"), { recursive: true });
    await writeFile(join(workdir, "module.py"), "value = 1");
    await writeFile(join(workdir, "package", "__init__.py"), "from .part import value");
    await writeFile(join(workdir, "package", "part.py"), "value = 2");
    // A module of the user with the name of a standard module: printing the traceback must not load it instead.
    await writeFile(join(workdir, "traceback.py"), "");
    const { body } = await agent.execute({
      code: "import module, package\nprint(module.value, package.value)\nraise KeyError",
      workdir: "python-project",
    });
    expect(body).toMatchObject({ stdout: "1 2\n", exit_code: 1 });
    expect(body.stderr).toContain("KeyError");
  });

  test("gives its children an input of their own", async () => {
    const { body } = await agent.execute({
      code: 'import subprocess\nprint(subprocess.run(["cat"]).returncode)',
    });
    expect(body).toMatchObject({ stdout: "0\n", stderr: "" });
  });
});

describe("javascript", () => {
  test.for([
    ["require", 'const { value } = require("./script.cjs"); console.log(value)'],
    ["import", 'import { value } from "./module.mjs"; console.log(value)'],
    ["a package's import", 'import value from "parcel"; console.log(value)'],
    ["top-level await", "console.log(await Promise.resolve(7))"],
    [
      "await and require together",
      'const fs = require("fs"); console.log(await Promise.resolve(fs.existsSync(".") && 7))',
    ],
    ["import and require together", 'import "./module.mjs"; console.log(require("./script.cjs").value)'],
  ] as const)("runs with %s", async ([, code]) => {
    const workdir = join(agent.workspace, "javascript-project");
    await mkdir(join(workdir, "node_modules", "parcel"), { recursive: true });
    await writeFile(join(workdir, "script.cjs"), "exports.value = 7");
    await writeFile(join(workdir, "module.mjs"), "export const value = 7");
    await writeFile(join(workdir, "node_modules", "parcel", "index.js"), "module.exports = 7");
    const { body } = await agent.execute({ language: "javascript", code, workdir });
    expect(body).toMatchObject({ stdout: "7\n", stderr: "" });
  });

  test("goes on running when the agent's temporary files have been swept away", async () => {
    await agent.run({ command: `find ${agent.temporary} -mindepth 1 -delete` });
    const { body } = await agent.execute({
      language: "javascript",
      code: "console.log(await 1, typeof require)",
    });
    expect(body).toMatchObject({ stdout: "1 function\n", stderr: "" });
  });
});

test("go says why code does not compile", forGo, async ({ skip }) => {
  skip(...needsGo("go"));
  const { body } = await agent.execute({
    language: "go",
    code: "package main\nfunc main() { x }",
    timeout: 120,
  });
  expect(body).toMatchObject({ success: false, stdout: "" });
  expect(body.stderr).toContain("undefined: x");
});

describe("commands", () => {
  test("without arguments are lines for the shell", async () => {
    const { body } = await agent.run({ command: "echo one two | tr a-z A-Z; exit 4" });
    expect(body).toMatchObject({
      stdout: "ONE TWO\n",
      exit_code: 4,
      command: "echo one two | tr a-z A-Z; exit 4",
    });
    expect(body.pid).toBeGreaterThan(0);
  });

  test("with arguments involve no shell", async () => {
    const { body } = await agent.run({ command: "echo", args: ["$HOME", "; exit 1"] });
    expect(body).toMatchObject({ stdout: "$HOME ; exit 1\n", exit_code: 0 });
  });

  test.for([
    [
      "a program that is not there",
      { command: "no-such-program", args: [] },
      127,
      "no-such-program: command not found\n",
    ],
    [
      "a shell that a PATH does not lead to",
      { command: "echo $0", env: { PATH: "/opt/venv/bin:$PATH" } },
      127,
      expect.stringMatching(/^bash: command not found \(PATH is set to a value without \/.*bin\)\n$/),
    ],
    [
      "a program that a PATH does not lead to",
      { command: "ls", args: [], env: { PATH: "" } },
      127,
      expect.stringMatching(/^ls: command not found \(PATH is set to a value without \/.*bin\)\n$/),
    ],
    [
      "a file that is no program",
      { command: "/etc/passwd", args: [] },
      126,
      "/etc/passwd: cannot be executed\n",
    ],
  ])("report %s as a shell does", async ([, request, exitCode, stderr]) => {
    const { status, body } = await agent.run(request);
    expect(status).toBe(200);
    expect(body).toMatchObject({ success: false, exit_code: exitCode, stderr });
  });

  test.for(["workdir", "working_dir"])("run in %s", async (name) => {
    const { body } = await agent.run({ command: "pwd", [name]: "/usr" });
    expect(body.stdout).toBe("/usr\n");
  });

  test("prefer workdir when both spellings are given", async () => {
    const { body } = await agent.run({ command: "pwd", workdir: "/usr", working_dir: "/tmp" });
    expect(body.stdout).toBe("/usr\n");
  });

  test("run in the workspace when no directory is given, or null", async () => {
    const { body } = await agent.run({
      command: "pwd",
      workdir: null,
      working_dir: null,
      env: null,
      args: null,
    });
    expect(body.stdout).toBe(`${agent.workspace}\n`);
  });

  test("may write to /dev/stdout and /dev/stderr", async () => {
    const { body } = await agent.run({ command: "echo out > /dev/stdout; echo err > /dev/stderr" });
    expect(body).toMatchObject({ stdout: "out\n", stderr: "err\n", exit_code: 0 });
  });

  test("inherit no descriptor of the agent", async () => {
    const { body } = await agent.run({ command: "ls -l /proc/self/fd", args: null });
    const links = [...body.stdout.matchAll(/ (\d+) -> (.*)/g)].map(
      ([, number, target]) => `${number} ${target}`,
    );
    // Leave out the descriptors 0, 1 and 2, and the directory that ls itself has open.
    const inherited = links.filter((link) => !/^[012] |\/proc\/\d+\/fd$/.test(link));
    expect(inherited.filter((link) => /socket|agent|cloud-sandbox|anon_inode/.test(link))).toEqual([]);
  });
});

describe("variables", () => {
  test("of a request win over the sandbox's, which win over the process's", async () => {
    await agent.call("PUT", "/env", { env_vars: { HOME: "/sandbox", BOTH: "sandbox" } });
    const { body } = await agent.run({ command: "echo $HOME $BOTH $LANG", env: { BOTH: "request" } });
    expect(body.stdout).toMatch(/^\/sandbox request \S+\n$/);
  });

  test("of a request are gone after it", async () => {
    await agent.run({ command: "true", env: { ONCE: "1" } });
    expect((await agent.run({ command: 'echo "[$ONCE]"' })).body.stdout).toBe("[]\n");
  });

  test("of the agent itself are not passed on", async () => {
    process.env.CLOUD_SANDBOX_AGENT_CONFIG = "config";
    await using other = await RunningAgent.start();
    delete process.env.CLOUD_SANDBOX_AGENT_CONFIG;
    const { body } = await other.run({ command: "env | grep ^CLOUD_SANDBOX_ | cut -d= -f1" });
    expect(body.stdout).toBe("CLOUD_SANDBOX_EXECUTION_ID\n");
  });
});

describe("bad input", () => {
  test.for([
    ["no code", {}, 400, "MISSING_PARAMETER", /code/],
    [
      "an unknown language",
      { code: "1", language: "cobol" },
      400,
      "INVALID_REQUEST",
      /python.*javascript.*bash.*go/,
    ],
    ["a timeout of 0", { code: "1", timeout: 0 }, 400, "INVALID_REQUEST", /timeout.*1.*seconds/],
    ["a timeout of 301", { code: "1", timeout: 301 }, 400, "INVALID_REQUEST", /timeout.*300/],
    ["a fractional timeout", { code: "1", timeout: 1.5 }, 400, "INVALID_REQUEST", /timeout/],
    [
      "a directory that is not there",
      { code: "1", workdir: "/nowhere" },
      400,
      "INVALID_REQUEST",
      /\/nowhere does not exist/,
    ],
    [
      "a directory that is a file",
      { code: "1", workdir: "/etc/passwd" },
      400,
      "INVALID_REQUEST",
      /not a directory/,
    ],
    ["a null byte in a directory", { code: "1", workdir: "/tmp\0" }, 400, "INVALID_REQUEST", /workdir/],
    ["a null byte in a variable", { code: "1", env: { A: "\0" } }, 400, "INVALID_REQUEST", /env/],
    ["a variable's bad name", { code: "1", env: { "A B": "1" } }, 400, "INVALID_REQUEST", /env/],
    ["a variable that is no text", { code: "1", env: { A: 1 } }, 400, "INVALID_REQUEST", /env/],
  ] as const)("%s is refused", async ([, request, status, code, message]) => {
    const answer = await agent.call("POST", "/execute", request);
    expect({ status: answer.status, code: answer.body.code }).toEqual({ status, code });
    expect(answer.body.message).toMatch(message);
  });

  test("arguments longer than the kernel takes are refused", async () => {
    const { status, body } = await agent.call("POST", "/commands/run", {
      command: "true",
      args: ["x".repeat(200_000)],
    });
    expect({ status, code: body.code }).toEqual({ status: 400, code: "INVALID_REQUEST" });
  });

  test("a language that the template does not offer is named, with the fix", async () => {
    await using plain = await RunningAgent.start({ languages: ["bash"] });
    const { status, body } = await plain.call("POST", "/execute", { code: "print(1)" });
    expect({ status, code: body.code }).toEqual({ status: 400, code: "LANGUAGE_NOT_AVAILABLE" });
    expect(body.message).toMatch(/python.*template/);
    expect((await plain.execute({ code: "echo 1", language: "bash" })).body.stdout).toBe("1\n");
  });
});
