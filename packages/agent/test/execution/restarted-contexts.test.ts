import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { expect, test } from "vitest";
import { MortalAgent } from "../support/mortal-agent.js";
import { RunningAgent } from "../support/running-agent.js";

type Sessions = AgentSchemas["JupyterSessionsResponse"];
const restarted = expect.stringContaining("This context was restarted");

async function idOf(agent: RunningAgent): Promise<string> {
  const { body } = await agent.call<Sessions>("GET", "/jupyter/sessions");
  return body.sessions?.[0]?.kernel_id ?? "";
}

test.each(["python", "javascript"])(
  "a restart of %s says so once, and not for other errors",
  async (language) => {
    await using agent = await RunningAgent.start();
    const run = async (code: string) => (await agent.execute({ code, language, context: "c" })).body;
    await run("x = 1");
    await agent.call("POST", `/jupyter/sessions/${await idOf(agent)}/restart`);
    expect((await run(language === "python" ? "1 / 0" : "null.x")).stderr).not.toEqual(restarted);
    expect((await run("x")).stderr).toEqual(restarted);
    expect((await run("x")).stderr).not.toEqual(restarted);
  },
);

test("a restart ends what runs, and what waits runs then", async () => {
  await using agent = await RunningAgent.start();
  const run = async (code: string) => (await agent.execute({ code, context: "c" })).body;
  await run("x = 1");
  const running = run("import time; open('begun', 'w'); time.sleep(60)");
  const hasBegun = async () => (await agent.execute({ language: "bash", code: "ls" })).body.stdout;
  await expect.poll(hasBegun).toContain("begun");
  const waiting = run("'x' in globals()");
  await agent.call("POST", `/jupyter/sessions/${await idOf(agent)}/restart`);
  expect(await running).toMatchObject({ success: false });
  expect(await waiting).toMatchObject({ result: "False" });
});

test("the next agent of a sandbox says what was lost with the one before", async () => {
  await using agent = await MortalAgent.start();
  const run = async (code: string, context: string) =>
    (
      await agent.call<AgentSchemas["ExecuteResponse"]>("POST", "/execute", {
        code,
        language: "python",
        context,
      })
    ).body.stderr;
  await run("x = 1", "before");
  // It is written in the background, and an agent that is killed before tells the next one nothing.
  const written = () => readFile(join(agent.state, "contexts.json"), "utf8").catch(() => "");
  await expect.poll(written).toContain("before");
  await agent.restart();
  const lost = expect.stringContaining("its variables are gone");
  expect(await run("x", "other")).not.toEqual(lost);
  expect(await run("x", "before")).toEqual(lost);
  expect(await run("x", "before")).not.toEqual(lost);
});
