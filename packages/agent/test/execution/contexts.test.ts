import { randomUUID } from "node:crypto";
import { lstat, mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.js";
import { isLive, processesWith } from "../support/processes.js";
import { RunningAgent } from "../support/running-agent.js";

type Request = Partial<AgentSchemas["ExecuteRequest"]>;

let agent: RunningAgent;
beforeAll(async () => {
  agent = await RunningAgent.start();
});
afterAll(() => agent[Symbol.asyncDispose]());

/** Makes a new context. Returns a function that runs Python in it; `request` may name another context. */
function pythonContext() {
  const context = randomUUID();
  return async (code: string, request: Request = {}) =>
    (await agent.execute({ code, context, ...request })).body;
}

const sessions = async (of = agent) =>
  (await of.call<AgentSchemas["JupyterSessionsResponse"]>("GET", "/jupyter/sessions")).body.sessions ?? [];

/** The number of executions that run in a context or wait for it. */
const pending = async (name: string) =>
  (await sessions()).find(({ context }) => context === name)?.connections;

/** Python code that runs until a file exists. */
const waitFor = (file: string) => `import os, time\nwhile not os.path.exists("${file}"): time.sleep(0.02)`;

describe("the directory for temporary files", () => {
  test.each(["python", "javascript"])("is created again for %s when it was removed", async (language) => {
    await using own = await RunningAgent.start();
    // Rename the directory instead of deleting it file by file, because the agent still creates files in it.
    await rename(own.temporary, `${own.temporary}.removed`);
    const code = language === "python" ? "print(1)" : "console.log(1)";
    // Try again: an interpreter whose files are gone is refused, with the advice to run the code again.
    await expect
      .poll(async () => (await own.execute({ language, code })).body)
      .toMatchObject({ stdout: "1\n", success: true });
    const { mode } = await lstat(own.temporary);
    expect(mode & 0o7777).toBe(0o1777);
  });

  test("is not created through a symbolic link that took its place", async () => {
    await using own = await RunningAgent.start();
    await rename(own.temporary, `${own.temporary}.removed`);
    const elsewhere = join(own.home, "elsewhere");
    await symlink(elsewhere, own.temporary);
    expect(await own.execute({ code: "print(1)" })).toMatchObject({ status: 429 });
    await expect(lstat(elsewhere)).rejects.toMatchObject({ code: "ENOENT" });
  });
});

test.each([
  ["what is called mkfifo makes none", "exit 0", "mkfifo made none"],
  ["what is called mkfifo makes files", 'shift 2; for path; do echo > "$path"; done', "does not make pipes"],
  ["mkfifo fails", "exit 3", "mkfifo ended with exit code 3"],
  ["mkfifo does not end", "exec sleep 1000", "mkfifo was killed, or did not end"],
])("where %s, an execution is refused with that reason", async (_, script, reason) => {
  const programs = await mkdtemp(join(tmpdir(), "mkfifo-"));
  await writeFile(join(programs, "mkfifo"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const before = process.env.PATH;
  process.env.PATH = `${programs}:${before}`;
  try {
    await using own = await RunningAgent.start();
    const { status, body } = await own.execute({ code: "print(1)" });
    expect([status, JSON.stringify(body)]).toEqual([429, expect.stringContaining(`could be made: `)]);
    expect(JSON.stringify(body)).toContain(reason);
    expect(JSON.stringify(body)).not.toContain(".cloud-sandbox");
  } finally {
    process.env.PATH = before;
    await rm(programs, { recursive: true });
  }
});

test.for([
  ["python", "len(open('/proc/self/cmdline').read())"],
  ["javascript", "require('fs').readFileSync('/proc/self/cmdline').length"],
] as const)("the driver of %s is not in the command line, which ps prints", async ([language, length]) => {
  const { body } = await agent.execute({ code: length, language, context: "command line" });
  expect(Number(body.result)).toBeLessThan(500);
});

describe("python", () => {
  test("keeps variables, functions and imports, also after an error", async () => {
    const python = pythonContext();
    await python("import math\nx = 1\ndef double(value):\n    return value * 2");
    await python("x += 1\nraise ValueError");
    expect(await python("print(double(x), math.floor(2.5))")).toMatchObject({
      stdout: "4 2\n",
      exit_code: 0,
    });
  });

  test("keeps the contexts of different names apart", async () => {
    const [one, other] = [pythonContext(), pythonContext()];
    await one("x = 1");
    expect((await other("print(x)")).stderr).toMatch(/NameError: name 'x' is not defined\n$/);
    expect((await one("print(x)")).stdout).toBe("1\n");
  });

  test.for([
    ["sys.exit(3)", 3],
    ["sys.exit()", 0],
    ["sys.exit(True)", 1],
    ["raise SystemExit(-1)", 255],
    ["sys.exit('why')", 1],
    ["1 / 0", 1],
    ["x = (", 1],
    ["await asyncio.sleep(0); sys.exit(4)", 4],
    ["import os\nif os.fork() == 0: sys.exit(7)\nsys.exit(os.waitstatus_to_exitcode(os.wait()[1]))", 7],
  ] as const)("after %s tells the exit code and keeps the variables", async ([code, exitCode]) => {
    const python = pythonContext();
    await python("import sys, asyncio\nx = 5");
    const ended = await python(code);
    expect(ended).toMatchObject({ exit_code: exitCode, termination_reason: "exit" });
    expect(ended.context_lost).toBeUndefined();
    expect((await python("x")).result).toBe("5");
  });

  test.for([
    ["os._exit(3)", 3, "exit"],
    ["os.kill(os.getpid(), 9)", 137, "signal"],
    ["os.abort()", 134, "signal"],
    ["os.close(3); os._exit(5)", 5, "exit"],
    ["os.write(3, b'x' * 1000)\nimport time\ntime.sleep(60)", 137, "signal"],
    ["os.write(3, b'\\xff' * 8)\nwhile True: pass", 137, "signal"],
  ] as const)("after %s says that the variables are gone, and goes on", async ([code, exitCode, reason]) => {
    const python = pythonContext();
    await python("import os\nx = 5\nprint('before')");
    const ended = await python(`print("said")\n${code}`, { timeout: 5 });
    expect(ended).toMatchObject({ exit_code: exitCode, termination_reason: reason, context_lost: true });
    expect(ended.stdout).toBe("said\n");
    expect(ended.stderr).toMatch(/the variables of this context are gone\.\n$/);
    const next = await python("print('x' in globals())");
    expect(next).toMatchObject({ stdout: "False\n", exit_code: 0 });
    expect(next.context_lost).toBeUndefined();
  });

  test("says of variables that were lost while nothing ran that they are gone", async () => {
    const python = pythonContext();
    const { stdout } = await python("import os; print(os.getpid())");
    process.kill(Number(stdout), "SIGKILL");
    await eventually("it has ended", () => !isLive(Number(stdout)));
    expect(await python("1")).toMatchObject({ exit_code: 0, context_lost: true });
    expect((await python("1")).context_lost).toBeUndefined();
  });

  test.for([
    ["a loop", "while True: pass"],
    ["a sleep", "import time\ntime.sleep(60)"],
    ["a wait for a child", "import subprocess\nsubprocess.run(['sleep', '60'])"],
    ["a wait by the C library", "import os\nos.system('sleep 60')"],
    ["an await", "import asyncio\nawait asyncio.sleep(60)"],
    [
      "a pool",
      "import multiprocessing, time\nwith multiprocessing.Pool(2) as pool: pool.map(time.sleep, [60, 60])",
    ],
  ] as const)("interrupts %s that is over its time and keeps the variables", async ([, code]) => {
    const python = pythonContext();
    const tag = `tag-${randomUUID()}`;
    await python("x = 5");
    const ended = await python(`print("so far")\n${code}`, { timeout: 1, env: { TAG: tag } });
    expect(ended).toMatchObject({ stdout: "so far\n", exit_code: 124, termination_reason: "timeout" });
    expect(ended.context_lost).toBeUndefined();
    expect(ended.stderr).not.toContain("<cloud-sandbox>");
    expect(processesWith(tag)).toEqual([]);
    expect((await python("x")).result).toBe("5");
  });

  test("ends code that does not let itself be interrupted, and says so", async () => {
    const python = pythonContext();
    const tag = `tag-${randomUUID()}`;
    await python("x = 5");
    const ended = await python(
      "import os, signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nos.system('setsid sleep 60 &')\nwhile True: pass",
      { timeout: 3, env: { TAG: tag } },
    );
    expect(ended).toMatchObject({ exit_code: 124, termination_reason: "timeout", context_lost: true });
    expect(processesWith(tag)).toEqual([]);
    expect((await python("x")).stderr).toContain("NameError");
  });

  test("ignores processes and tasks of earlier executions, and what they write to it", async () => {
    const python = pythonContext();
    const left = await python(
      "import subprocess\nprint(subprocess.Popen(['sh', '-c', 'sleep 0.3; echo late; sleep 60']).pid)",
    );
    await python("import time\ntime.sleep(60)", { timeout: 1 });
    expect((await python("print('own')")).stdout).toBe("own\n");
    await python("import os\nos._exit(1)");
    expect(isLive(Number(left.stdout))).toBe(true);
    process.kill(Number(left.stdout));
  });

  test("runs one execution after the other, and lets one that is aborted leave the queue", async () => {
    const context = randomUUID();
    const gate = join(agent.workspace, randomUUID());
    const first = agent.execute({ code: `order = [1]\n${waitFor(gate)}`, context });
    await eventually("the first runs", async () => (await pending(context)) === 1);
    const gone = new AbortController();
    const aborted = agent.execute({ code: "order.append(2)", context }, { signal: gone.signal });
    aborted.catch(() => undefined);
    const last = agent.execute({ code: "order.append(3)\norder", context });
    await eventually("all are there", async () => (await pending(context)) === 3);
    gone.abort();
    await eventually("one has left", async () => (await pending(context)) === 2);
    await writeFile(gate, "");
    await first;
    expect((await last).body.result).toBe("[1, 3]");
  });

  test("refuses more than may wait", async () => {
    const context = randomUUID();
    const gate = join(agent.workspace, randomUUID());
    const first = agent.execute({ code: waitFor(gate), context });
    await eventually("the first runs", async () => (await pending(context)) === 1);
    let answered = 0;
    const rest = Array.from({ length: 40 }, async () => {
      const answer = await agent.execute({ code: "1", context });
      answered += 1;
      return answer;
    });
    await eventually("those that do not wait are answered", () => answered >= 8);
    await writeFile(gate, "");
    const statuses = (await Promise.all([first, ...rest])).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(33);
    expect(statuses.filter((status) => status === 429)).toHaveLength(8);
  });

  test("has the sandbox's variables as they are now, and a request's only during it", async () => {
    const python = pythonContext();
    const show = "import os; print(os.environ.get('A'), os.environ.get('B'), os.environ.get('OWN'))";
    await agent.call("PUT", "/env", { env_vars: { A: "1" } });
    expect((await python(show)).stdout).toBe("1 None None\n");
    await python("os.environ['OWN'] = 'kept'");
    expect((await python(show, { env: { A: "2", B: "3" } })).stdout).toBe("2 3 kept\n");
    expect((await python(show)).stdout).toBe("1 None kept\n");
    await agent.call("DELETE", "/env");
    expect((await python(show)).stdout).toBe("None None kept\n");
  });

  test("stays in the directory that code changed to, except for an execution with a directory of its own", async () => {
    const python = pythonContext();
    await mkdir(join(agent.workspace, "inner"), { recursive: true });
    await python("import os\nos.chdir('inner')");
    expect((await python("os.getcwd()", { workdir: "/usr" })).result).toBe("'/usr'");
    expect((await python("os.getcwd()")).result).toBe(`'${join(agent.workspace, "inner")}'`);
  });

  test("shows the lines of the execution that a function comes from", async () => {
    const python = pythonContext();
    await python("def fail():\n    raise ValueError('first')");
    const { stderr } = await python("1\n\nfail()  # here");
    expect(stderr).toContain("fail()  # here");
    expect(stderr).toContain("raise ValueError('first')");
    expect(stderr).not.toContain("cloud-sandbox");
  });

  test("has an empty input, and output again after code that broke it", async () => {
    const python = pythonContext();
    expect((await python("input()")).stderr).toMatch(/EOFError/);
    await python("import sys, os\nsys.stdout.close()\nos.close(2)\nos.close(0)");
    expect(await python("print('out')\nprint('err', file=sys.stderr)")).toMatchObject({
      stdout: "out\n",
      stderr: "err\n",
    });
    await python("import io\nsys.stdout = io.StringIO()");
    expect((await python("print('again')")).stdout).toBe("again\n");
  });

  test("waits at the top level, in one loop", async () => {
    const python = pythonContext();
    await python("import asyncio\nqueue = asyncio.Queue()\nawait queue.put(7)");
    expect((await python("await queue.get()")).result).toBe("7");
    expect((await python("asyncio.run(asyncio.sleep(0, 8))")).result).toBe("8");
  });
});

test("the contexts that were used least recently end when there are too many", async () => {
  await using small = await RunningAgent.start();
  const run = async (context: string, code: string) => (await small.execute({ code, context })).body;
  for (let index = 0; index < 8; index += 1) await run(`c${index}`, `x = ${index}`);
  await run("c0", "x");
  await run("c8", "x = 8");
  const named = (await sessions(small)).map(({ context }) => context);
  expect(named.sort()).toEqual(["c0", "c2", "c3", "c4", "c5", "c6", "c7", "c8"]);
  expect((await run("c1", "x")).stderr).toContain("NameError");
});

test("a context that ended to make room for others says once, with its next execution, that its variables are gone", async () => {
  await using small = await RunningAgent.start();
  const run = async (context: string, code: string) => (await small.execute({ code, context })).body;
  const fill = async (from: number, to: number) => {
    for (let index = from; index < to; index += 1) await run(`c${index}`, "x = 1");
  };
  await fill(0, 9);
  const again = await run("c0", "'x' in globals()");
  expect(again).toMatchObject({ result: "False", exit_code: 0, context_lost: true });
  expect(again.stderr).toMatch(/to make room for other contexts: its variables are gone\.\n$/);
  expect((await run("c0", "1")).context_lost).toBeUndefined();
  // A context that never existed has lost nothing.
  expect((await run("new", "1")).context_lost).toBeUndefined();

  const { stdout } = await run("killed", "import os; print(os.getpid())");
  process.kill(Number(stdout), "SIGKILL");
  await eventually("it has ended", () => !isLive(Number(stdout)));
  await fill(10, 20);
  expect(await run("killed", "1")).toMatchObject({ context_lost: true });
});

test("contexts are listed with their state and language", async () => {
  await using small = await RunningAgent.start();
  expect(await sessions(small)).toEqual([]);
  await small.execute({ code: "x = 1" });
  const [idle, ...others] = await sessions(small);
  expect(others).toEqual([]);
  expect(idle).toMatchObject({
    execution_state: "idle",
    connections: 0,
    language: "python",
    context: "default",
  });
  const gate = join(small.workspace, "gate");
  const running = small.execute({ code: waitFor(gate) });
  await eventually("it is busy", async () => (await sessions(small))[0]?.execution_state === "busy");
  await writeFile(gate, "");
  await running;
  expect((await sessions(small))[0]?.kernel_id).toBe(idle?.kernel_id);
});

test("code with a module beside it imports it", async () => {
  const python = pythonContext();
  await writeFile(join(agent.workspace, "beside.py"), "value = 3");
  expect((await python("import beside\nbeside.value")).result).toBe("3");
});
