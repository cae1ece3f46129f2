import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ended, listJobs, outputOf, startCode } from "../support/background.js";
import { eventually } from "../support/eventually.js";
import { processesWith } from "../support/processes.js";
import { RunningAgent } from "../support/running-agent.js";

let agent: RunningAgent;
beforeAll(async () => {
  agent = await RunningAgent.start({ outputLimit: 4096 });
});
afterAll(() => agent[Symbol.asyncDispose]());

/** Runs code in a context, and waits for its end. */
const execute = async (context: string, code: string) => (await agent.execute({ code, context })).body;

/** The number of executions that run in a context or wait for it. Undefined if there is no such context. */
async function pending(name: string): Promise<number | undefined> {
  const { body } = await agent.call<AgentSchemas["JupyterSessionsResponse"]>("GET", "/jupyter/sessions");
  return body.sessions?.find(({ context }) => context === name)?.connections;
}

describe("a job in a context", () => {
  test("uses the context's variables, leaves its own there, and gives its last value when it has ended", async () => {
    const context = randomUUID();
    await execute(context, "x = 20");
    const job = await startCode(agent, "x += 22\nprint('added')\nx", { context });
    await ended(agent, job);
    const without = await outputOf(agent, job);
    expect(without).toMatchObject({ status: "completed", stdout: "added\n", complete: true });
    expect(without).not.toHaveProperty("result");
    const withValues = await agent.call("GET", `/execute/processes/${job.process_id}/output?values=true`);
    expect(withValues.body).toMatchObject({ result: "42", stdout: "added\n" });
    expect((await execute(context, "print(x)")).stdout).toBe("42\n");
  });

  test("is killed without its context: the variables stay", async () => {
    const context = randomUUID();
    await execute(context, "kept = 1");
    const tag = randomUUID();
    const code = `import subprocess\nsubprocess.run(["env", "TAG=${tag}", "sleep", "60"])`;
    const job = await startCode(agent, code, { context });
    await eventually("it runs", () => processesWith(tag).length > 0);
    const killed = await agent.call("POST", `/execute/kill/${job.process_id}`);
    expect(killed.body).toMatchObject({ status: "killed" });
    await eventually("what it started is gone", () => processesWith(tag).length === 0);
    expect((await execute(context, "print(kept)")).stdout).toBe("1\n");
  });

  test("waits for its turn, and does not begin once its caller has gone", async () => {
    const context = randomUUID();
    const gate = join(agent.workspace, "gate");
    const first = await startCode(
      agent,
      `import os, time\nwhile not os.path.exists("${gate}"): time.sleep(0.02)`,
      {
        context,
      },
    );
    const leaving = new AbortController();
    const trace = join(agent.workspace, "trace");
    const body = { code: `open("${trace}", "w")`, context };
    const waiting = agent.call("POST", "/execute/background", body, { signal: leaving.signal });
    await eventually("it waits", async () => (await pending(context)) === 2);
    leaving.abort();
    await expect(waiting).rejects.toThrow();
    await eventually("it has left", async () => (await pending(context)) === 1);
    const second = startCode(agent, "print('second')", { context });
    writeFileSync(gate, "");
    await ended(agent, first);
    expect(await ended(agent, await second)).toMatchObject({ status: "completed" });
    expect(existsSync(trace)).toBe(false);
    expect((await listJobs(agent)).filter(({ status }) => status === "running")).toEqual([]);
  });

  test("gives what it displayed, and says that its interpreter ended", async () => {
    const context = randomUUID();
    const html = "type('Table', (), { '_repr_html_': lambda self: '<table></table>' })()";
    const shown = await startCode(agent, html, { context });
    await ended(agent, shown);
    const displayed = await agent.call("GET", `/execute/processes/${shown.process_id}/output?values=true`);
    expect(displayed.body).toMatchObject({
      rich_outputs: expect.arrayContaining([expect.objectContaining({ type: "text/html" })]),
    });
    const lost = await startCode(agent, "import os\nos._exit(7)", { context });
    await ended(agent, lost);
    const gone = await agent.call("GET", `/execute/processes/${lost.process_id}/output?values=true`);
    expect(gone.body).toMatchObject({ exit_code: 7, context_lost: true });
  });

  test("keeps all that it writes in a file that programs can read", async () => {
    const job = await startCode(agent, "print('x' * 100_000)", { context: randomUUID() });
    await ended(agent, job);
    const { stdout_bytes, stdout_file = "", stderr_file } = await outputOf(agent, job, { limit: 16 });
    expect(stdout_bytes).toBe(100_001);
    expect(readFileSync(stdout_file, "utf8")).toBe(`${"x".repeat(100_000)}\n`);
    expect(stderr_file).toBeUndefined();
  });
});
