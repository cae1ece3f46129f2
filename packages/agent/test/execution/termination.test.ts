import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.js";
import { processesWith } from "../support/processes.js";
import { RunningAgent } from "../support/running-agent.js";

let agent: RunningAgent;
beforeAll(async () => {
  agent = await RunningAgent.start({ limits: { memoryMb: 64 } });
});
afterAll(() => agent[Symbol.asyncDispose]());

/** Programs that are hard to end. The command line or the environment of each of their processes contains `tag`. */
const stubborn = {
  "a sleeping program": (tag: string) => ({ language: "bash", code: `sleep 60; : ${tag}` }),
  "one that ignores SIGTERM": (tag: string) => ({
    language: "python",
    code: `import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"${tag}"\nwhile True: time.sleep(1)`,
  }),
  "one with children": (tag: string) => ({ language: "bash", code: `sleep 60 & sleep 60 & wait; : ${tag}` }),
  "one whose child made a session of its own": (tag: string) => ({
    language: "bash",
    code: `setsid sleep 60 & : ${tag}; sleep 60`,
  }),
  "one whose grandchild left its group and was orphaned": (tag: string) => ({
    language: "bash",
    code: `(setsid bash -c 'sleep 60; : ${tag}' &) ; sleep 60`,
  }),
  "one that forks all the time": (tag: string) => ({
    language: "python",
    code: `
import os, time
"${tag}"
deadline = time.time() + 20
while time.time() < deadline:
    if os.fork() == 0:
        os.setsid()
        time.sleep(20)
        os._exit(0)
    time.sleep(0.005)`,
  }),
};

describe("at the time limit", () => {
  test.for(Object.entries(stubborn))("%s is killed with everything it started", async ([, program]) => {
    const tag = `tag-${randomUUID()}`;
    const { status, body } = await agent.execute({ ...program(tag), env: { TAG: tag }, timeout: 1 });
    expect(status).toBe(200);
    expect(body).toMatchObject({ success: false, exit_code: 124, termination_reason: "timeout" });
    expect(body.execution_time).toBeGreaterThanOrEqual(1);
    // If nobody ends these programs, they run for twenty seconds or longer.
    expect(body.execution_time).toBeLessThan(15);
    expect(processesWith(tag)).toEqual([]);
  });

  test("what a program said before is kept", async () => {
    const { body } = await agent.execute({
      code: 'import time\nprint("so far")\ntime.sleep(60)',
      timeout: 3,
    });
    expect(body).toMatchObject({ stdout: "so far\n", exit_code: 124 });
  });

  test("a program may clean up when it is asked to end", async () => {
    const { body } = await agent.execute({
      language: "bash",
      code: "trap 'echo bye; exit' TERM; sleep 60 & wait",
      timeout: 1,
    });
    expect(body).toMatchObject({ stdout: "bye\n", exit_code: 124, termination_reason: "timeout" });
  });

  test("a command is killed as code is", async () => {
    const { body } = await agent.run({ command: "sleep", args: ["60"], timeout: 1 });
    expect(body).toMatchObject({ exit_code: 124, termination_reason: "timeout" });
  });
});

test("when the caller goes away, its program is killed with everything it started", async () => {
  const tag = `tag-${randomUUID()}`;
  const caller = new AbortController();
  const abandoned = agent.execute(
    { language: "bash", code: "setsid sleep 60 & sleep 60", env: { TAG: tag } },
    { signal: caller.signal },
  );
  abandoned.catch(() => undefined);
  await eventually("the program runs", () => processesWith(tag).length >= 3);
  caller.abort();
  await eventually("nothing of it is left", () => processesWith(tag).length === 0);
  await eventually("its slot is free", async () => (await health()).active_executions === 0);
});

test.for([
  ["TERM", 143],
  ["KILL", 137],
  ["SEGV", 139],
] as const)("a program that dies of SIG%s says so", async ([signal, exitCode]) => {
  const { body } = await agent.execute({ language: "bash", code: `kill -${signal} $$` });
  expect(body).toMatchObject({ success: false, exit_code: exitCode, termination_reason: "signal" });
});

describe("at a limit of the sandbox", () => {
  test("one program more than there are slots for is told to wait, and the others are not disturbed", async () => {
    await using small = await RunningAgent.start({ maxExecutions: 2 });
    const gate = join(small.workspace, "gate");
    const waiting = [1, 2].map(() =>
      small.run({ command: `until [ -e ${gate} ]; do sleep 0.05; done; echo done` }),
    );
    await eventually("both run", async () => (await health(small)).active_executions === 2);
    const { status, headers, body } = await small.call("POST", "/execute", { code: "1" });
    expect({ status, code: body.code }).toEqual({ status: 429, code: "RESOURCE_EXHAUSTED" });
    expect(headers["retry-after"]).toBe("1");
    writeFileSync(gate, "");
    for (const answer of await Promise.all(waiting)) expect(answer.body.stdout).toBe("done\n");
    expect((await small.execute({ code: "print(1)" })).body.stdout).toBe("1\n");
  });

  test("a program that uses too much memory is named as the reason, with the limit", async ({ skip }) => {
    using group = memoryGroup(64);
    skip(group === undefined, "no memory control group can be made here");
    const { body } = await agent.execute({
      language: "bash",
      code: `echo $$ > ${group?.members}; echo before; python3 -c 'bytearray(512 * 1024 * 1024)'; exit $?`,
    });
    expect(body).toMatchObject({ stdout: "before\n", exit_code: 137, termination_reason: "out_of_memory" });
    expect(body.stderr).toMatch(/Out of memory: .* 64 MB .*\n$/);
  });
});

const health = async (of = agent) => (await of.call<{ active_executions: number }>("GET", "/health")).body;

/**
 * Makes a control group on this machine with a memory limit in MiB. It is removed at the end of its scope. Undefined
 * where that is not possible.
 */
function memoryGroup(limit: number): ({ members: string } & Disposable) | undefined {
  const version1 = "/sys/fs/cgroup/memory";
  const isVersion1 = existsSync(join(version1, "cgroup.procs"));
  const directory = join(isVersion1 ? version1 : "/sys/fs/cgroup", `agent-test-${randomUUID()}`);
  try {
    mkdirSync(directory);
    writeFileSync(
      join(directory, isVersion1 ? "memory.limit_in_bytes" : "memory.max"),
      String(limit * 1024 * 1024),
    );
  } catch {
    return undefined;
  }
  return { members: join(directory, "cgroup.procs"), [Symbol.dispose]: () => rmdirSync(directory) };
}
