import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { hostProcesses } from "../../../../test/support/host-processes.js";
import { eventually } from "../support/eventually.js";
import { RunningAgent } from "../support/running-agent.js";

let agent: RunningAgent;
let home: string;
beforeAll(async () => {
  // A home directory of its own, because a test installs a Python package in it.
  home = await mkdtemp(join(tmpdir(), "agent-home-"));
  process.env.HOME = home;
});
afterAll(() => rm(home, { recursive: true, force: true }));

const python = async (code: string, env: Record<string, string> = {}, workdir?: string) =>
  (await agent.execute({ code, language: "python", env, ...(workdir !== undefined && { workdir }) })).body;

/** The pids of all interpreters that agents in this process have started, those in use too. */
function interpreters(): string[] {
  return hostProcesses()
    .filter(({ parent, commandLine }) => parent === process.pid && commandLine.includes("exec(load()"))
    .map(({ pid }) => String(pid));
}

test("an interpreter that waits unused is ended to free its memory, and the next execution starts one", async () => {
  await using seldomUsed = await RunningAgent.start({ interpreterWait: 100 });
  agent = seldomUsed;
  await agent.warmUp();
  await eventually("one waits", () => interpreters().length === 1);
  await agent.run({ command: "true" });
  await eventually("it has gone", () => interpreters().length === 0);
  expect((await python("x = 1; print(x)")).stdout).toBe("1\n");
  expect((await python("print(x)")).stdout).toBe("1\n");
});

test("no interpreter is started in advance at once where a caller waits already, and another one for a second context", async () => {
  await using commands = await RunningAgent.start();
  agent = commands;
  await agent.run({ command: "true" });
  void agent.warmUp();
  await agent.run({ command: "true" });
  expect(interpreters()).toEqual([]);
  await agent.execute({ code: "x = 1", language: "python", context: "second" });
  await eventually("another one waits", () => interpreters().length === 2);
});

describe("an interpreter that was started in advance", () => {
  beforeEach(async () => {
    agent = await RunningAgent.start();
    await agent.warmUp();
    await eventually("one waits", () => interpreters().length === 1);
    return async () => {
      await agent[Symbol.asyncDispose]();
      await eventually("an agent that ends takes it along", () => interpreters().length === 0);
    };
  });

  test("runs the next program, and the programs after it", async () => {
    const [pid] = interpreters();
    for (let turn = 0; turn < 2; turn += 1)
      expect((await python("import os; print(os.getpid())")).stdout).toBe(`${pid}\n`);
    expect(interpreters()).toEqual([pid]);
  });

  test("runs a program in the directory and with the variables that the program asks for", async () => {
    const place = join(agent.workspace, "place with ä space");
    await mkdir(place, { recursive: true });
    const { stdout } = await python(
      "import os; print(os.getcwd()); print(os.environ['A'], os.environ.get('B')); os.system('echo $A')",
      { A: "x=1\ny" },
      place,
    );
    expect(stdout).toBe(`${place}\nx=1\ny None\nx=1 y\n`);
    expect((await python("import os; print('A' in os.environ, os.getcwd())")).stdout).toBe(
      `False ${agent.workspace}\n`,
    );
  });

  test("is not used for a program with variables that Python reads at its start", async () => {
    await writeFile(join(agent.workspace, "from_path.py"), "value = 'found'");
    const env = { PYTHONPATH: agent.workspace };
    expect((await python("import from_path; print(from_path.value)", env, "/")).stdout).toBe("found\n");
    expect((await python("print(from_path.value)", env, "/")).stdout).toBe("found\n");
    expect((await python("print('from_path' in globals())")).stdout).toBe("False\n");
  });

  test("finds packages that were installed for the user while it waited, and while it was in use", async () => {
    const packages = (await python("import site; print(site.getusersitepackages())")).stdout.trim();
    for (const name of ["late", "later"]) {
      await mkdir(packages, { recursive: true });
      await writeFile(join(packages, `${name}.py`), `value = '${name}'`);
      expect((await python(`import ${name}; print(${name}.value)`)).stdout).toBe(`${name}\n`);
    }
  });

  test("may be killed without harm, at any time", async () => {
    for (let turn = 0; turn < 5; turn += 1) {
      for (const pid of interpreters()) process.kill(Number(pid), "SIGKILL");
      expect((await python("print('fine')")).stdout).toBe("fine\n");
    }
  });

  test("is not left behind by a request with a directory that does not exist", async () => {
    const { status, body } = await agent.execute({ code: "pass", workdir: "/no/such/place" });
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toContain("does not exist");
    expect(interpreters()).toHaveLength(1);
  });

  test("ends with a program whose directory does not exist", async () => {
    const [pid = ""] = interpreters();
    const { status } = await agent.execute({ code: "pass", workdir: "/no/such/place", cache: true });
    expect(status).toBe(400);
    await eventually("it has gone", () => !interpreters().includes(pid));
  });
});
