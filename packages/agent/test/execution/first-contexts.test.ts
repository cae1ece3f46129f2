import { expect, test } from "vitest";
import { RunningAgent } from "../support/running-agent.js";

// In a file of its own, because what rewrites the code is loaded with the first import of a process.
test("contexts whose first code is being rewritten are all kept", async () => {
  await using agent = await RunningAgent.start();
  const run = async (context: string, code: string) =>
    (await agent.execute({ code, context, language: "javascript" })).body.result;
  const contexts = ["a", "b", "c", "d"];
  await Promise.all(contexts.map((context) => run(context, `import "node:path"; const x = "${context}"`)));
  const kept = await Promise.all(contexts.map((context) => run(context, "x")));
  expect(kept).toEqual(["'a'", "'b'", "'c'", "'d'"]);
});
