import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { beforeEach, describe, expect, test } from "vitest";
import { RunningAgent } from "../support/running-agent.js";

let agent: RunningAgent;
beforeEach(async () => {
  agent = await RunningAgent.start();
  return () => agent[Symbol.asyncDispose]();
});

/** Prints a different pid each time it is run, so an equal output came from the cache. */
const code = "import os; print(os.getpid())";

const run = async (request: Partial<AgentSchemas["ExecuteRequest"]> = {}) =>
  (await agent.execute({ code, cache: true, ...request })).body;

const stats = async () =>
  (await agent.call<AgentSchemas["CacheStatsResponse"]>("GET", "/cache/stats")).body.cache;

test("an execution with cache: true is not run a second time", async () => {
  const first = await run();
  expect(first).toMatchObject({ cached: false, exit_code: 0 });
  expect(await run()).toMatchObject({ cached: true, stdout: first.stdout, exit_code: 0 });
  expect(await stats()).toMatchObject({ size: 1, total_hits: 1, hits: 1, misses: 1, hit_rate: 0.5 });
  const { body } = await agent.call<{ cache: { size: number } }>("GET", "/metrics/snapshot");
  expect(body.cache.size).toBe(1);
});

describe("the cache is not used for an execution", () => {
  test.for([
    ["with other code", { code: `${code};` }],
    ["with other variables", { env: { A: "1" } }],
    ["elsewhere", { workdir: "/usr" }],
    ["in another language", { language: "javascript", code: "console.log(process.pid)" }],
    ["that does not say so", { cache: false }],
  ] as const)("%s", async ([, request]) => {
    const first = await run();
    const other = await run(request);
    expect(other.stdout).not.toBe(first.stdout);
    expect(other.cached).not.toBe(true);
  });

  test("after the sandbox's variables have changed, or the cache was cleared", async () => {
    const first = await run();
    await agent.call("PUT", "/env", { env_vars: { A: "1" } });
    expect((await run()).cached).toBe(false);
    await agent.call("DELETE", "/env");
    expect(await run()).toMatchObject({ cached: true, stdout: first.stdout });
    const cleared = await agent.call<AgentSchemas["CacheClearResponse"]>("POST", "/cache/clear");
    expect(cleared.body).toMatchObject({ success: true, entries_removed: 2 });
    expect((await run()).cached).toBe(false);
  });

  test("that ran while the cache was cleared", async () => {
    const slow = `import time; time.sleep(0.5); ${code}`;
    const first = run({ code: slow });
    await expect.poll(stats).toMatchObject({ misses: 1 });
    await agent.call("POST", "/cache/clear");
    expect((await first).cached).toBe(false);
    expect((await run({ code: slow })).cached).toBe(false);
  });

  test.for([
    ["that fails", "raise SystemExit(3)"],
    ["whose output was cut", "print('x' * (2 << 20))"],
  ] as const)("%s", async ([, failing]) => {
    await run({ code: failing });
    expect((await run({ code: failing })).cached).toBe(false);
    expect(await stats()).toMatchObject({ size: 0 });
  });
});

test("a cached execution neither sees the context's variables nor leaves any", async () => {
  await agent.execute({ code: "x = 1" });
  expect((await run({ code: "y = 2\nprint('x' in globals())" })).stdout).toBe("False\n");
  expect((await agent.execute({ code: "print(x, 'y' in globals())" })).body.stdout).toBe("1 False\n");
});

test("the cache keeps values and displayed outputs too", async () => {
  const shown = "display({'text/html': 'x'}, raw=True)\n42";
  for (const cached of [false, true])
    expect(await run({ code: shown })).toMatchObject({ cached, result: "42", html: "x" });
});

test("the cache is bounded", async () => {
  for (let index = 0; index < 20; index += 1)
    await run({ language: "bash", code: `head -c 900000 /dev/zero | tr '\\0' x # ${index}` });
  expect((await stats())?.size).toBeLessThan(19);
});
