import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { eventually } from "./support/eventually.js";
import { RunningAgent } from "./support/running-agent.js";

let agent: RunningAgent;
let home: string;
beforeAll(async () => {
  // Packages are installed into it.
  home = await mkdtemp(join(tmpdir(), "agent-home-"));
  process.env.HOME = home;
  agent = await RunningAgent.start();
});
afterAll(async () => {
  await agent[Symbol.asyncDispose]();
  await rm(home, { recursive: true, force: true });
});

const python = async (code: string, env: Record<string, string> = {}, workdir?: string) =>
  (await agent.execute({ code, language: "python", env, ...(workdir !== undefined && { workdir }) })).body;

/** Interpreters of this agent that wait for a program. */
function waiting(): string[] {
  const children = execFileSync("ps", ["--ppid", String(process.pid), "-o", "pid=,args="], {
    encoding: "utf8",
  });
  return children
    .split("\n")
    .filter((line) => line.includes("def boot"))
    .map((line) => line.trim().split(" ")[0] ?? "");
}

describe("an interpreter that waits", () => {
  beforeEach(async () => {
    await python("pass");
    await eventually("one waits", () => waiting().length === 1);
  });

  test("is the one that runs the next program", async () => {
    const [pid] = waiting();
    expect((await python("import os; print(os.getpid())")).stdout).toBe(`${pid}\n`);
  });

  test("runs it where, and with the variables that, it is told, and with no others", async () => {
    const place = join(agent.workspace, "place with ä space");
    await mkdir(place, { recursive: true });
    const { stdout } = await python(
      "import os; print(os.getcwd()); print(os.environ['A'], os.environ.get('B')); os.system('echo $A')",
      { A: "x=1\ny" },
      place,
    );
    expect(stdout).toBe(`${place}\nx=1\ny None\nx=1 y\n`);
    expect((await python("import os; print('A' in os.environ)")).stdout).toBe("False\n");
  });

  test("carries nothing over to the next program", async () => {
    await python("import builtins, sys; builtins.left = 1; sys.path.append('/left')");
    const { stdout } = await python("import sys; print('left' in dir(__builtins__), '/left' in sys.path)");
    expect(stdout).toBe("False False\n");
  });

  test("is not used for variables that Python reads when it starts", async () => {
    await writeFile(join(agent.workspace, "from_path.py"), "value = 'found'");
    const env = { PYTHONPATH: agent.workspace };
    expect((await python("import from_path; print(from_path.value)", env, "/")).stdout).toBe("found\n");
  });

  test("finds packages that were installed for the user while it waited", async () => {
    const packages = (await python("import site; print(site.getusersitepackages())")).stdout.trim();
    await eventually("one waits again", () => waiting().length === 1);
    await mkdir(packages, { recursive: true });
    const name = `late_${Date.now()}`;
    await writeFile(join(packages, `${name}.py`), "value = 'late'");
    expect((await python(`import ${name}; print(${name}.value)`)).stdout).toBe("late\n");
  });

  test("may be killed without harm", async () => {
    process.kill(Number(waiting()[0]), "SIGKILL");
    // Its end is noticed a moment later.
    await eventually("programs run", async () => (await python("print('fine')")).stdout === "fine\n");
  });

  test("is not left behind by a directory that does not exist", async () => {
    const { status, body } = await agent.execute({
      code: "pass",
      language: "python",
      workdir: "/no/such/place",
    });
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toContain("does not exist");
    expect(waiting()).toHaveLength(1);
  });
});

test("an agent that ends takes it along", async () => {
  const other = await RunningAgent.start();
  const before = waiting();
  await other.execute({ code: "pass", language: "python" });
  await eventually("its own waits too", () => waiting().length > before.length);
  await other[Symbol.asyncDispose]();
  await eventually("it is gone", () => waiting().length <= before.length);
});
