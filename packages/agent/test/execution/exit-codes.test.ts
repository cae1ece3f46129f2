import { afterAll, beforeAll, expect, test } from "vitest";
import { RunningAgent } from "../support/running-agent.js";

let agent: RunningAgent;
beforeAll(async () => {
  agent = await RunningAgent.start();
});
afterAll(async () => {
  await agent[Symbol.asyncDispose]();
});

test.each([
  ["python", "import sys; sys.exit(263)", 7],
  ["python", "import sys; sys.exit(-1)", 255],
  ["javascript", "process.exit(300)", 44],
  ["javascript", "process.exit(-1)", 255],
  ["bash", "exit 300", 44],
])("%s: %s ends with eight bits, as a process does", async (language, code, exitCode) => {
  const { body } = await agent.execute({ language, code });
  expect(body).toMatchObject({ exit_code: exitCode, success: false });
});
