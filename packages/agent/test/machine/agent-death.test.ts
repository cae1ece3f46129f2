import { randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ended, listed, listJobs, outputOf, startCode, startCommand } from "../support/background.js";
import { eventually } from "../support/eventually.js";
import { MortalAgent } from "../support/mortal-agent.js";
import { ownVariables } from "../support/own-variables.js";
import { processesWith } from "../support/processes.js";

let agent: MortalAgent;
beforeEach(async () => {
  agent = await MortalAgent.start();
});
afterEach(() => agent[Symbol.asyncDispose]());

const kilobytes = (count: number) => `seq -f %07.0f 0 8 ${count * 1024 - 8}`;

describe("a job whose agent is killed", () => {
  test("is failed with a reason, its output is kept, and nothing of it runs", async () => {
    const tag = `tag-${randomUUID()}`;
    const line = `(setsid sleep 60 &); ${kilobytes(200)}; echo oops >&2; sleep 60`;
    const job = await startCommand(agent, line, { env: { TAG: tag }, name: "nap" });
    await eventually("it has written", async () => {
      const { stdout, stderr } = await outputOf(agent, job, { stdout_offset: 200 * 1024 - 8 });
      return stdout.length === 8 && stderr === "oops\n";
    });
    await agent.restart();
    expect(processesWith(tag)).toEqual([]);
    const expected = { status: "failed", exit_code: 137, termination_reason: "interrupted" };
    expect(await listed(agent, job)).toMatchObject({
      ...expected,
      execution_id: job.execution_id,
      name: "nap",
      start_time: job.start_time,
      error: expect.stringMatching(/agent was killed/),
      end_time: expect.any(String),
    });
    const output = await outputOf(agent, job, { limit: 1024 * 1024 });
    expect(output).toMatchObject({ ...expected, stderr: "oops\n", stdout_bytes: 200 * 1024, complete: true });
    expect(output.stdout.slice(-8)).toBe(`${200 * 1024 - 8}\n`.padStart(8, "0"));
    expect((await outputOf(agent, job, { stdout_offset: 8, limit: 16 })).stdout).toBe("0000008\n0000016\n");
    expect((await agent.call("POST", `/execute/kill/${job.execution_id}`)).body).toMatchObject({
      status: "failed",
      message: expect.stringMatching(/already ended/),
    });
  });

  test("stays failed, however often the agent is killed", async () => {
    const job = await startCommand(agent, "sleep 60");
    await agent.restart();
    const first = await listed(agent, job);
    await agent.restart();
    expect(await listed(agent, job)).toEqual(first);
  });

  test("that had ended keeps its outcome", async () => {
    const done = await startCode(agent, "print('héllo'); import sys; sys.exit(3)", { name: "short" });
    const before = await ended(agent, done);
    const output = await outputOf(agent, done);
    await agent.restart();
    expect(await listed(agent, done)).toEqual(before);
    expect(await outputOf(agent, done)).toEqual({ ...output, timestamp: expect.any(String) });
  });

  test("leaves running what it had left running when it ended", async () => {
    const tag = `tag-${randomUUID()}`;
    const job = await startCommand(agent, "nohup setsid sleep 60 >/dev/null 2>&1 &", { env: { TAG: tag } });
    await ended(agent, job);
    await agent.restart();
    expect(processesWith(tag)).toHaveLength(1);
    for (const pid of processesWith(tag)) process.kill(pid, "SIGKILL");
  });

  test.each(["SIGTERM", "SIGKILL"] as const)("by %s does not keep new jobs from starting", async (signal) => {
    const old = await startCommand(agent, "sleep 60");
    await agent.restart(signal);
    expect(await listed(agent, old)).toMatchObject({ status: "failed", exit_code: 137 });
    const job = await startCommand(agent, "echo again");
    expect((await ended(agent, job)).status).toBe("completed");
    expect((await listJobs(agent)).map(({ process_id }) => process_id)).toEqual([
      old.process_id,
      job.process_id,
    ]);
  });
});

describe("what code in the sandbox has put in the place of job records", () => {
  const genuine = () => {
    const [name = ""] = readdirSync(agent.state).filter((file) => file.endsWith(".json"));
    return { name, record: JSON.parse(readFileSync(join(agent.state, name), "utf8")) };
  };
  const other = "cmd_170000000000000000000";

  test.for([
    ["no JSON", () => "{"],
    ["another job's", (record: object) => JSON.stringify({ ...record, id: "cmd_1" })],
    ["of the wrong form", (record: object) => JSON.stringify({ ...record, pid: "1" })],
    ["a path for an id", (record: object) => JSON.stringify({ ...record, id: "../../../../etc/passwd" })],
    ["too large", (record: object) => JSON.stringify({ ...record, id: other, x: "x".repeat(100_000) })],
  ] as const)("is not read: %s", async ([, spoil]) => {
    await ended(agent, await startCommand(agent, "true"));
    const { record } = genuine();
    writeFileSync(join(agent.state, `${other}.json`), spoil({ ...record, id: other }));
    await agent.restart();
    expect((await listJobs(agent)).map(({ process_id }) => process_id)).toEqual([record.id]);
  });

  test("is not followed: a link, a directory, a fifo", async () => {
    const job = await startCommand(agent, "echo secret");
    await ended(agent, job);
    const { name, record } = genuine();
    const copy = join(agent.workspace, "copy.json");
    writeFileSync(copy, JSON.stringify({ ...record, id: other }));
    symlinkSync(copy, join(agent.state, `${other}.json`));
    mkdirSync(join(agent.state, "cmd_1700000000001.json"));
    await ended(agent, await startCommand(agent, `mkfifo ${join(agent.state, "cmd_1700000000002.json")}`));
    const output = join(agent.state, `${record.id}.stdout`);
    rmSync(output);
    symlinkSync("/etc/passwd", output);
    await agent.restart();
    expect(await listJobs(agent)).toHaveLength(2);
    expect(name).toBe(`${job.process_id}.json`);
    expect(await outputOf(agent, job)).toMatchObject({ stdout: "", stdout_offset: 7, complete: true });
  });

  test("is bounded in number", async () => {
    await ended(agent, await startCommand(agent, "true"));
    const { record } = genuine();
    for (let index = 0; index < 2000; index += 1) {
      const id = `proc_${1_700_000_000_000 + index}aaaaaaaa`;
      writeFileSync(join(agent.state, `${id}.json`), JSON.stringify({ ...record, id }));
    }
    await agent.restart();
    expect(await listJobs(agent)).toHaveLength(256);
  });

  test("may be anything but a directory", async () => {
    writeFileSync(agent.state, "");
    const job = await startCommand(agent, "echo 1");
    await ended(agent, job);
    expect((await outputOf(agent, job)).stdout).toBe("1\n");
    await agent.restart();
    expect(await listJobs(agent)).toEqual([]);
  });
});

describe("the sandbox's variables", () => {
  const shown = async (name: string) => {
    const job = await startCommand(agent, `printf %s "$${name}"`);
    await ended(agent, job);
    return (await outputOf(agent, job)).stdout;
  };

  test("outlive the agent, with the values that were masked", async () => {
    await agent.call("PUT", "/env", { env_vars: { GONE: "1", API_KEY: "s3cret", PLAIN: "old" } });
    await agent.call("PATCH", "/env", { env_vars: { PLAIN: "new" }, merge: true });
    await agent.call("DELETE", "/env/GONE");
    await agent.restart();
    expect(ownVariables(await agent.call("GET", "/env"))).toEqual({
      API_KEY: "***MASKED***",
      PLAIN: "new",
    });
    expect(await shown("API_KEY")).toBe("s3cret");
    await agent.call("DELETE", "/env");
    await agent.restart();
    expect(ownVariables(await agent.call("GET", "/env"))).toEqual({});
  });

  test.for([
    ["no JSON", "{"],
    ["of the wrong form", '{"A": 1}'],
    ["of names that are none", '{"A=B": "1"}'],
    ["too large", JSON.stringify({ A: "x".repeat(10_000_000) })],
  ] as const)("are not taken from a file that is %s", async ([, text]) => {
    await agent.call("PATCH", "/env", { env_vars: { A: "1" } });
    writeFileSync(join(agent.state, "environment.json"), text);
    await agent.restart();
    expect(ownVariables(await agent.call("GET", "/env"))).toEqual({});
  });
});

test("code that is to be reported on runs like any other job", async () => {
  const callback_url = "https://example.com/hook";
  const { status, body } = await agent.call<{ execution_id: string; process_id: string }>(
    "POST",
    "/execute/async",
    { code: "print(6 * 7)", callback_url, callback_headers: { A: "b" }, callback_signature_secret: "s" },
  );
  expect(status).toBe(200);
  expect(body).toMatchObject({ status: "queued", callback_url, execution_id: expect.any(String) });
  const path = `/execute/processes/${body.execution_id}/output?wait=60`;
  expect((await agent.call("GET", path)).body).toMatchObject({ status: "completed", stdout: "42\n" });
});

test("an answer can wait for the end, but no longer than it was told to", async () => {
  const gate = join(agent.workspace, "gate");
  const job = await startCommand(agent, `until [ -e ${gate} ]; do sleep 0.02; done; echo done`);
  expect(await outputOf(agent, job, { wait: 1 })).toMatchObject({ status: "running" });
  const waiting = outputOf(agent, job, { wait: 60 });
  writeFileSync(gate, "");
  expect(await waiting).toMatchObject({ status: "completed", stdout: "done\n", complete: true });
});
