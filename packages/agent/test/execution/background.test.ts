import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  ended,
  listed,
  listJobs,
  outputOf,
  type Started,
  startCode,
  startCommand,
} from "../support/background.js";
import { eventually } from "../support/eventually.js";
import { processesWith } from "../support/processes.js";
import { RunningAgent } from "../support/running-agent.js";

let agent: RunningAgent;
beforeAll(async () => {
  agent = await RunningAgent.start();
});
afterAll(() => agent[Symbol.asyncDispose]());

const health = async (of = agent) => (await of.call<{ active_executions: number }>("GET", "/health")).body;

describe("a job", () => {
  test.for([
    ["code", "proc_", () => startCode(agent, "import time; time.sleep(60)", { name: "nap" })],
    ["a command", "cmd_", () => startCommand(agent, "sleep 60", { name: "nap" })],
  ] as const)("of %s is answered at once and listed while it runs", async ([, prefix, start]) => {
    const job = await start();
    expect(job).toMatchObject({ status: "running", name: "nap", execution_id: expect.any(String) });
    expect(job.process_id).toMatch(new RegExp(`^${prefix}\\d+\\w+$`));
    const entry = await listed(agent, job);
    expect(entry).toMatchObject({
      execution_id: job.execution_id,
      name: "nap",
      status: "running",
      pid: expect.any(Number),
      start_time: job.start_time,
      started_at: job.start_time,
    });
    expect(entry.duration).toBeGreaterThanOrEqual(0);
    expect(entry).not.toHaveProperty("end_time");
    expect(entry).not.toHaveProperty("exit_code");
    await kill(job);
  });

  test.for([
    ["print(1)", {}, { status: "completed", exit_code: 0, termination_reason: "exit", language: "python" }],
    ["exit 3", { language: "bash" }, { status: "failed", exit_code: 3, termination_reason: "exit" }],
    ["kill -9 $$", { language: "bash" }, { status: "failed", exit_code: 137, termination_reason: "signal" }],
    [
      "sleep 60",
      { language: "bash", timeout: 1 },
      { status: "failed", exit_code: 124, termination_reason: "timeout" },
    ],
  ] as const)("tells how it ended: %s", async ([code, more, expected]) => {
    const entry = await ended(agent, await startCode(agent, code, more));
    expect(entry).toMatchObject(expected);
    expect(entry.completed_at).toBe(entry.end_time);
    expect(Date.parse(entry.end_time ?? "")).toBeGreaterThanOrEqual(Date.parse(entry.start_time ?? ""));
  });

  test("that runs over its time is killed with everything it started", async () => {
    const tag = `tag-${randomUUID()}`;
    const job = await startCommand(agent, "setsid sleep 60 & sleep 60", { env: { TAG: tag }, timeout: 1 });
    expect(await ended(agent, job)).toMatchObject({ termination_reason: "timeout" });
    expect(processesWith(tag)).toEqual([]);
  });

  test.for(["workdir", "working_dir"])(
    "runs in its %s, with its own variables and the sandbox's",
    async (field) => {
      mkdirSync(join(agent.workspace, field));
      await agent.call("PATCH", "/env", { env_vars: { SHARED: "shared", OWN: "sandbox" } });
      const line = 'echo "$PWD $SHARED $OWN"';
      for (const start of [
        () => startCommand(agent, line, { [field]: field, env: { OWN: "job" } }),
        () => startCode(agent, line, { language: "bash", [field]: field, env: { OWN: "job" } }),
      ]) {
        const job = await start();
        await ended(agent, job);
        expect((await outputOf(agent, job)).stdout).toBe(`${join(agent.workspace, field)} shared job\n`);
      }
    },
  );

  test("takes a command with arguments literally", async () => {
    const job = await startCommand(agent, "echo", { args: ["$HOME", "a  b"] });
    await ended(agent, job);
    expect((await outputOf(agent, job)).stdout).toBe("$HOME a  b\n");
  });

  test("goes on when the connection that started it is closed", async () => {
    const gate = join(agent.workspace, randomUUID());
    const job = await agent.call<Started>(
      "POST",
      "/commands/background",
      { command: `until [ -e ${gate} ]; do sleep 0.02; done; echo done` },
      { headers: { connection: "close" } },
    );
    expect(job.headers.connection).toBe("close");
    expect((await listed(agent, job.body)).status).toBe("running");
    writeFileSync(gate, "");
    expect((await ended(agent, job.body)).status).toBe("completed");
  });

  test.for([
    ["/commands/background", { command: "no-such-program", args: [] }, "INVALID_REQUEST", /no-such-program/],
    ["/commands/background", { command: "true", workdir: "nowhere" }, "INVALID_REQUEST", /workdir .*nowhere/],
    ["/commands/background", { command: "true", timeout: 0 }, "INVALID_REQUEST", /timeout/],
    ["/execute/background", { code: "1", language: "cobol" }, "INVALID_REQUEST", /language/],
    ["/execute/background", { language: "bash" }, "MISSING_PARAMETER", /code/],
  ] as const)(
    "that cannot be started is refused and not listed: %s %o",
    async ([path, body, code, message]) => {
      const before = await listJobs(agent);
      const answer = await agent.call("POST", path, body);
      expect({ status: answer.status, code: answer.body.code }).toEqual({ status: 400, code });
      expect(answer.body.message).toMatch(message);
      expect((await listJobs(agent)).length).toBe(before.length);
      await eventually("its slot is free", async () => (await health()).active_executions === 0);
    },
  );
});

type Way = (id: string) => readonly [method: string, path: string];
const ways: readonly (readonly [string, Way])[] = [
  ["DELETE /execute/kill", (id) => ["DELETE", `/execute/kill?process_id=${id}`]],
  ["POST /execute/kill/{id}", (id) => ["POST", `/execute/kill/${id}`]],
  ["POST /processes/{id}/kill", (id) => ["POST", `/processes/${id}/kill`]],
];

const kill = ({ process_id }: Started) => agent.call("POST", `/execute/kill/${process_id}`);

describe.for(ways)("%s", ([, way]) => {
  test.for(["process_id", "execution_id"] as const)("kills all of a job, by its %s", async (field) => {
    const tag = `tag-${randomUUID()}`;
    const line = "trap '' TERM; (setsid bash -c 'sleep 60; :' &) ; sleep 60 & wait; sleep 60";
    const job = await startCommand(agent, line, { env: { TAG: tag } });
    await eventually("it runs", () => processesWith(tag).length >= 4);
    const { status, body } = await agent.call(...way(job[field] ?? ""));
    expect(status).toBe(200);
    expect(body).toMatchObject({ success: true, status: "killed", process_id: job.process_id });
    expect(body.message).toMatch(/was killed/);
    expect(processesWith(tag)).toEqual([]);
    expect(await listed(agent, job)).toMatchObject({
      status: "killed",
      exit_code: 137,
      termination_reason: "killed",
    });
  });

  test("says of a job that has ended that there was nothing to kill", async () => {
    const job = await startCommand(agent, "true");
    await ended(agent, job);
    const { status, body } = await agent.call(...way(job.process_id));
    expect(status).toBe(200);
    expect(body).toMatchObject({ success: true, status: "completed", process_id: job.process_id });
    expect(body.message).toMatch(/already ended/);
    expect((await listed(agent, job)).status).toBe("completed");
  });

  test("does not find a job that never existed", async () => {
    const { status, body } = await agent.call(...way("cmd_0"));
    expect({ status, code: body.code }).toEqual({ status: 404, code: "PROCESS_NOT_FOUND" });
  });
});

test("a second kill of a job is told that it came too late", async () => {
  const job = await startCommand(agent, "sleep 60");
  expect((await kill(job)).body.message).toMatch(/was killed/);
  const { status, body } = await kill(job);
  expect(status).toBe(200);
  expect(body).toMatchObject({ status: "killed" });
  expect(body.message).toMatch(/already ended/);
});

describe("limits", () => {
  test("a job takes one of the slots until it ends, however it was started", async () => {
    await using small = await RunningAgent.start({ maxExecutions: 2 });
    const jobs = [
      await startCommand(small, "sleep 60"),
      await startCode(small, "import time; time.sleep(60)"),
    ];
    expect((await health(small)).active_executions).toBe(2);
    for (const path of ["/execute", "/execute/background"]) {
      const { status, body } = await small.call("POST", path, { code: "1" });
      expect({ status, code: body.code }).toEqual({ status: 429, code: "RESOURCE_EXHAUSTED" });
    }
    for (const { process_id } of jobs) await small.call("POST", `/execute/kill/${process_id}`);
    expect((await health(small)).active_executions).toBe(0);
    expect((await small.execute({ code: "print(1)" })).body.stdout).toBe("1\n");
  });

  test("of the jobs that have ended only the latest are remembered, of those that run all", async () => {
    await using busy = await RunningAgent.start();
    const running = await startCommand(busy, "sleep 60");
    const first = await startCommand(busy, "echo first");
    await ended(busy, first);
    for (let batch = 0; batch < 32; batch += 1) {
      const jobs = await Promise.all(
        Array.from({ length: 8 }, () => startCommand(busy, "true", { args: [] })),
      );
      await eventually("they have ended", async () => (await health(busy)).active_executions === 1);
      expect(jobs).toHaveLength(8);
    }
    const ids = (await listJobs(busy)).map(({ process_id }) => process_id);
    expect(ids).toHaveLength(256);
    expect(ids).toContain(running.process_id);
    expect(ids).not.toContain(first.process_id);
    expect((await busy.call("GET", `/execute/processes/${first.process_id}/output`)).status).toBe(404);
  }, 60_000);

  test("a job does not keep the next interpreter from being started ahead", async () => {
    await using other = await RunningAgent.start();
    const tag = `tag-${randomUUID()}`;
    const isWaiting = async () => {
      const { body } = await other.execute({
        code: "import os; print(os.environb.get(b'TAG'), open('/proc/self/environ','rb').read().count(b'TAG'))",
        env: { TAG: tag },
      });
      // The variable is in os.environ but not in /proc: the interpreter was started before this request, without the
      // variable.
      return body.stdout === `b'${tag}' 0\n`;
    };
    await eventually("one waits", isWaiting);
    await startCode(other, "import time; time.sleep(60)");
    expect((await health(other)).active_executions).toBe(1);
    await eventually("one waits beside the job", isWaiting);
  });
});
