import { Problem } from "@cloud-sandbox/server-kit";
import { describe, expect, test } from "vitest";
import { PollBackoff } from "../../src/relay/poll-backoff.js";
import { ExecutionFollower } from "../../src/webhooks/execution-follower.js";
import { type Asked, type Said, ScriptedAgent } from "../support/scripted-agent.js";

const output = "/execute/processes/e%2F1/output?";
/** How many bytes of each output a report contains. */
const reported = 256 * 1024;
/** A report of a longer output contains its beginning and its end, with so many bytes each. */
const half = reported / 2;

const ended = {
  status: "completed",
  exit_code: 0,
  termination_reason: "exit",
  duration: 1.5,
  stdout: "",
  stdout_bytes: 0,
  stderr: "",
  stderr_bytes: 0,
};
const silent = { ...ended, stdout: "not asked for", stderr: "not asked for" };

async function follow(
  answer: (asked: Asked, count: number) => Said,
  { createdAt = new Date(), signal = new AbortController().signal, before = () => undefined as unknown } = {},
) {
  const agent = await ScriptedAgent.start(answer);
  let questions = 0;
  const follower = new ExecutionFollower(async (sandboxId, path, signal) => {
    expect(sandboxId).toBe("s");
    questions += 1;
    if (questions === 1) before();
    return agent.send({ method: "GET", path, headers: {}, signal });
  });
  const report = follower.end({ sandboxId: "s", executionId: "e/1", createdAt }, signal);
  return { agent, report, urls: () => agent.asked.map(({ url }) => url) };
}

describe("an execution that has ended", () => {
  test("is reported with both outputs if they are short, each fetched alone", async () => {
    const job = { ...ended, stdout_bytes: 5, stderr_bytes: 3 };
    const { report, urls } = await follow(({ url }) => {
      if (url.includes("stdout_offset=0")) return { ...job, stdout: "héy\n", stderr: "" };
      if (url.includes("stderr_offset=0")) return { ...job, stdout: "", stderr: "oh\n" };
      return job;
    });
    const before = Date.now();
    const { timestamp, ...told } = await report;
    expect(told).toEqual({
      execution_id: "e/1",
      status: "completed",
      success: true,
      stdout: "héy\n",
      stderr: "oh\n",
      exit_code: 0,
      execution_time: 1.5,
      sandbox_id: "s",
      termination_reason: "exit",
      stdout_truncated: false,
      stderr_truncated: false,
    });
    expect(Math.abs(Date.parse(timestamp) - before)).toBeLessThan(10_000);
    expect(urls()).toEqual([
      `${output}wait=30&limit=16`,
      `${output}stdout_offset=0&stderr_offset=3&limit=${reported}`,
      `${output}stderr_offset=0&stdout_offset=5&limit=${reported}`,
    ]);
  });

  test("and has written nothing is reported without asking for output", async () => {
    const { report, urls } = await follow(() => silent);
    expect(await report).toMatchObject({ stdout: "", stderr: "" });
    expect(urls()).toEqual([`${output}wait=30&limit=16`]);
  });

  test.each<[string, object, object]>([
    [
      "with another exit code has failed",
      { exit_code: 3 },
      { status: "failed", success: false, exit_code: 3 },
    ],
    [
      "without an exit code has failed",
      { exit_code: undefined },
      { status: "failed", success: false, exit_code: 1 },
    ],
    ["without a reason has exited", { termination_reason: undefined }, { termination_reason: "exit" }],
    [
      "in a timeout is told as one",
      { termination_reason: "timeout", exit_code: 124 },
      { status: "timeout", success: false, error: expect.stringContaining("time limit") },
    ],
    [
      "by a kill is told so",
      { termination_reason: "killed", exit_code: 137 },
      { status: "failed", error: expect.stringContaining("killed on request") },
    ],
    [
      "for want of memory is told so",
      { termination_reason: "out_of_memory", exit_code: 137 },
      { error: expect.stringContaining("memory limit") },
    ],
    [
      "with an error of its own is told by that",
      { termination_reason: "killed", error: "own" },
      { error: "own" },
    ],
    [
      "for a reason unknown here has no error",
      { termination_reason: "of the future", exit_code: 1 },
      { termination_reason: "of the future", error: undefined },
    ],
  ])("%s", async (_, job, told) => {
    const { report } = await follow(() => ({ ...ended, ...job }));
    const payload = await report;
    expect({ ...payload, error: payload.error }).toMatchObject(told);
    expect("error" in payload).toBe(payload.error !== undefined);
  });

  test.each([
    ["since it was created", -7000, 7],
    ["and never less than nothing", 60_000, 0],
  ])("without a duration gets the time %s as its duration", async (_, offset, seconds) => {
    const { report } = await follow(() => ({ ...ended, duration: undefined }), {
      createdAt: new Date(Date.now() + offset),
    });
    const { execution_time } = await report;
    expect(execution_time).toBeGreaterThanOrEqual(seconds);
    expect(execution_time).toBeLessThan(seconds + 15);
  });
});

describe("a reported output", () => {
  /**
   * An agent with `total` bytes of stdout, in numbered lines. It answers with the part that is asked for, and `more`
   * bytes.
   */
  const agentWith = (total: number, more = 0) => {
    const all = Array.from({ length: total / 8 + 1 }, (_, line) => `${String(line).padStart(7, "0")}\n`)
      .join("")
      .slice(0, total);
    const answer = ({ url }: Asked): Said => {
      const asked = new URL(url, "http://agent").searchParams;
      const offset = Number(asked.get("stdout_offset") ?? total);
      const stdout = all.slice(offset, offset + Number(asked.get("limit")) + more);
      return { ...ended, stdout_bytes: total, stdout };
    };
    return { all, answer };
  };

  test("that is as long as the limit is complete", async () => {
    const { all, answer } = agentWith(reported);
    const { report, urls } = await follow(answer);
    const { stdout, stdout_truncated, stderr_truncated } = await report;
    expect({ isWhole: stdout === all, stdout_truncated, stderr_truncated }).toEqual({
      isWhole: true,
      stdout_truncated: false,
      stderr_truncated: false,
    });
    expect(urls()).toHaveLength(2);
  });

  test("that is longer has its beginning and its end, and says so", async () => {
    const { all, answer } = agentWith(reported + 1000);
    const { report } = await follow(answer);
    const { stdout, stdout_truncated, stderr_truncated } = await report;
    const expected = `${all.slice(0, half)}\n[... 1000 bytes cut ...]\n${all.slice(-half)}`;
    expect({ isSo: stdout === expected, stdout_truncated, stderr_truncated }).toEqual({
      isSo: true,
      stdout_truncated: true,
      stderr_truncated: false,
    });
  });

  test("of stderr has its own length", async () => {
    const { report, urls } = await follow(() => ({ ...ended, stderr_bytes: reported + 1, stderr: "x" }));
    expect(await report).toMatchObject({ stdout: "", stdout_truncated: false, stderr_truncated: true });
    expect(urls().slice(1)).toEqual([
      `${output}stderr_offset=0&stdout_offset=0&limit=${half}`,
      `${output}stderr_offset=${half + 1}&stdout_offset=0&limit=${half}`,
    ]);
  });

  test("of stderr that is complete is not marked as cut", async () => {
    const { report } = await follow(() => ({ ...ended, stderr_bytes: reported, stderr: "x" }));
    expect(await report).toMatchObject({ stderr: "x", stderr_truncated: false });
  });

  test("of which the agent sends more than it was asked for is cut", async () => {
    const { all, answer } = agentWith(reported, 100);
    const { report } = await follow((asked) => ({
      ...(answer(asked) as typeof ended),
      stdout: `${all}more`,
    }));
    expect((await report).stdout.length).toBe(reported);
  });
});

describe("the follower of an execution", () => {
  test.each<[string, Said]>([
    ["says that it still runs", { ...ended, status: "running" }],
    ["is out of order", { status: 500, text: JSON.stringify(ended) }],
    ["sends what is no JSON", { status: 200, text: "hello" }],
    ["sends JSON of another form", { hello: "world" }],
    ["counts below nothing", { ...ended, stdout_bytes: -1 }],
    ["lasted less than nothing", { ...ended, duration: -1 }],
    ["gives a long reason", { ...ended, termination_reason: "x".repeat(101) }],
    ["tells a long error", { ...ended, error: "x".repeat(1001) }],
    ["sends more than any agent", { ...ended, stdout: "x".repeat(4 * 1024 * 1024) }],
    ["sends more values than any agent", { ...ended, more: Array.from({ length: 260_000 }, () => []) }],
  ])("asks again if the agent %s", async (_, said) => {
    const { report, agent } = await follow((_asked, count) => (count <= 2 ? said : ended));
    expect(await report).toMatchObject({ status: "completed", exit_code: 0 });
    expect(agent.asked).toHaveLength(3);
  });

  test("asks less and less often if answers come at once", async () => {
    const over = new AbortController();
    const { report, agent } = await follow(() => ({ ...ended, status: "running" }), { signal: over.signal });
    const outcome = report.catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 600));
    // The follower asks after 0, 50, 150 and 350 milliseconds.
    expect(agent.asked.length).toBeLessThanOrEqual(4);
    over.abort();
    await outcome;
  });

  test.each([
    ["as long as any that is told", { termination_reason: "x".repeat(100) }],
    ["with the longest error", { error: "x".repeat(1000) }],
  ])("accepts a reason %s", async (_, job) => {
    const { report, agent } = await follow(() => ({ ...ended, ...job }));
    expect(await report).toMatchObject(job);
    expect(agent.asked).toHaveLength(1);
  });

  test("accepts an answer of the maximum length", async () => {
    const text = JSON.stringify({ ...ended, stdout: "" });
    const filled = text.replace('"stdout":""', `"stdout":"${"x".repeat(4 * 1024 * 1024 - text.length)}"`);
    const { report, agent } = await follow(() => ({ status: 200, text: filled }));
    expect(filled.length).toBe(4 * 1024 * 1024);
    expect(await report).toMatchObject({ status: "completed" });
    expect(agent.asked).toHaveLength(1);
  });

  test("waits for a sandbox that is paused, or whose agent is restarted", async () => {
    const paused = new Problem(409, "SANDBOX_PAUSED", "It is paused.");
    const { report } = await follow(() => ended, {
      before: () => {
        throw paused;
      },
    });
    expect(await report).toMatchObject({ status: "completed" });
  });

  test.each([
    ["is gone", () => new Problem(404, "NOT_FOUND", "Gone.")],
    ["has expired", () => new Problem(410, "SANDBOX_EXPIRED", "Gone.")],
    ["was stopped", () => new Problem(409, "SANDBOX_STOPPED", "Gone.")],
  ])("reports an execution as lost with a sandbox that %s", async (_, problem) => {
    const { report } = await follow(() => ended, {
      createdAt: new Date(Date.now() - 3000),
      before: () => {
        throw problem();
      },
    });
    const { timestamp, execution_time, ...told } = await report;
    expect(told).toEqual({
      execution_id: "e/1",
      status: "failed",
      success: false,
      stdout: "",
      stderr: "",
      exit_code: 137,
      error: "The code did not finish: Gone.",
      sandbox_id: "s",
      termination_reason: "interrupted",
    });
    expect(execution_time).toBeGreaterThanOrEqual(3);
    expect(execution_time).toBeLessThan(20);
    expect(Date.parse(timestamp)).not.toBeNaN();
  });

  test("reports an execution as lost if its agent does not know it any more", async () => {
    const { report } = await follow(() => ({ status: 404, text: JSON.stringify(ended) }));
    expect(await report).toMatchObject({
      termination_reason: "interrupted",
      error: expect.stringContaining("no longer has a record of the execution"),
    });
  });

  test("stops at its signal, during a request and between two", async () => {
    const during = new AbortController();
    const { report, agent } = await follow(() => "nothing", { signal: during.signal });
    const outcome = report.catch((error: unknown) => error);
    await expect.poll(() => agent.asked.length).toBe(1);
    during.abort(new Error("enough"));
    expect(await outcome).toMatchObject({ message: "enough" });

    const between = new AbortController();
    const other = await follow(() => ({ ...ended, status: "running" }), { signal: between.signal });
    const end = other.report.catch((error: unknown) => error);
    await expect.poll(() => other.agent.asked.length).toBeGreaterThan(1);
    between.abort(new Error("enough"));
    expect(await end).toMatchObject({ name: expect.stringMatching(/AbortError|Error/) });
    const { length } = other.agent.asked;
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(other.agent.asked.length).toBe(length);
  });
});

describe("the pause between requests to an agent", () => {
  const never = new AbortController().signal;
  const timed = async (work: () => Promise<void>) => {
    const start = performance.now();
    await work();
    return performance.now() - start;
  };

  test("doubles while answers come at once", async () => {
    const backoff = new PollBackoff({ firstMs: 20, longestMs: 60_000, longPollMs: 60_000 });
    const waits: number[] = [];
    for (let turn = 0; turn < 3; turn += 1) {
      backoff.beginRequest();
      waits.push(await timed(() => backoff.pause(never)));
    }
    expect(waits.map((wait, turn) => wait >= 20 * 2 ** turn - 2)).toEqual([true, true, true]);
  });

  test("has a maximum", async () => {
    const backoff = new PollBackoff({ firstMs: 1, longestMs: 2, longPollMs: 60_000 });
    // Without a longest pause, twenty pauses that double would take longer than a test may.
    for (let turn = 0; turn < 20; turn += 1) await backoff.pause(never);
  });

  test("is short again after an answer that took long", async () => {
    const backoff = new PollBackoff({ firstMs: 1, longestMs: 3_600_000, longPollMs: 10 });
    for (let turn = 0; turn < 30; turn += 1) {
      backoff.beginRequest();
      await new Promise((resolve) => setTimeout(resolve, 15));
      await backoff.pause(never);
    }
  });

  test("is counted from the last request", async () => {
    const backoff = new PollBackoff({ firstMs: 20, longestMs: 60_000, longPollMs: 150 });
    await new Promise((resolve) => setTimeout(resolve, 200));
    let whole = 0;
    for (let turn = 0; turn < 3; turn += 1) {
      backoff.beginRequest();
      whole += await timed(() => backoff.pause(never));
    }
    expect(whole).toBeGreaterThanOrEqual(20 + 40 + 80 - 6);
  });

  test("does not keep a process running", async () => {
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
    const ended = new AbortController();
    const before = timers();
    const rest = new PollBackoff({ firstMs: 60_000, longestMs: 60_000, longPollMs: 0 }).pause(ended.signal);
    expect(timers()).toBe(before);
    ended.abort();
    await rest.catch(() => undefined);
  });

  test("ends with its signal", async () => {
    const ended = new AbortController();
    const rest = new PollBackoff({ firstMs: 60_000, longestMs: 60_000, longPollMs: 0 }).pause(ended.signal);
    ended.abort();
    await expect(rest).rejects.toMatchObject({ name: "AbortError" });
  });
});
