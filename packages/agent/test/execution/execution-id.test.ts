import { executeStreamFrame } from "@cloud-sandbox/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ended, listJobs, outputOf, type Started } from "../support/background.js";
import { type Ran, RunningAgent } from "../support/running-agent.js";
import { SocketClient } from "../support/socket-client.js";

let agent: RunningAgent;
beforeAll(async () => {
  agent = await RunningAgent.start();
});
afterAll(() => agent[Symbol.asyncDispose]());

const asPython = { language: "python", code: "import os; print(os.environ['CLOUD_SANDBOX_EXECUTION_ID'])" };
const asBash = { language: "bash", code: "echo $CLOUD_SANDBOX_EXECUTION_ID" };

test.each([
  ["/execute", asPython],
  ["/execute", asBash],
  ["/execute", { ...asPython, cache: true }],
  ["/execute/rich", asPython],
  ["/commands/run", { command: asBash.code }],
])("an answer of %s has the id that its program finds: %j", async (path, request) => {
  const { body } = await agent.call<Ran>("POST", path, request);
  expect(body.execution_id).toMatch(/^[\w-]{20,}$/);
  expect(body.stdout).toBe(`${body.execution_id}\n`);
});

test.each([
  ["/execute/stream", asPython],
  ["/commands/stream", { command: asBash.code }],
])("a stream of %s has the id that its program finds", async (path, first) => {
  using client = await SocketClient.open(agent, path, executeStreamFrame);
  client.send({ type: "execute", ...first });
  const frames = await client.closed();
  const printed = frames.flatMap((frame) => ("data" in frame ? [frame.data] : [])).join("");
  expect(frames).toContainEqual(expect.objectContaining({ type: "result", execution_id: printed.trim() }));
});

test.each([
  ["/execute/background", asPython],
  ["/execute/background", { ...asPython, context: "default" }],
  ["/execute/async", { ...asPython, callback_url: "http://127.0.0.1:9/" }],
  ["/commands/background", { command: asBash.code }],
])("a job of %s has one id, also in its program: %j", async (path, request) => {
  const { body: job } = await agent.call<Started>("POST", path, request);
  const id = job.process_id;
  expect(job.execution_id).toBe(id);
  await ended(agent, job);
  const listed = (await listJobs(agent)).filter(({ process_id }) => process_id === id);
  expect(listed.map(({ execution_id }) => execution_id)).toEqual([id]);
  const output = await outputOf(agent, job);
  expect(output).toMatchObject({ execution_id: id, stdout: `${id}\n` });
  expect(output.stdout_file ?? `/${id}.stdout`).toMatch(new RegExp(`/${id}\\.stdout$`));
});
