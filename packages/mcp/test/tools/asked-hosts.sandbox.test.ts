import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { getDefaultEnvironment, StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterEach, expect, test } from "vitest";
import { connect, connectionOf, type McpConnection, serverFile } from "../support/mcp-connection.js";

let mcp: McpConnection | undefined;
afterEach(() => mcp?.client.close());

/** Connects a client whose person gives these answers. */
async function connectPerson(answers: string[]) {
  const env = { ...getDefaultEnvironment(), CLOUD_SANDBOX_POOL: "0" };
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [serverFile],
    env,
    stderr: "ignore",
  });
  const client = new Client({ name: "test", version: "1.0.0" }, { capabilities: { elicitation: {} } });
  const questions: string[] = [];
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    questions.push(params.message);
    const decision = answers.shift();
    return decision === undefined ? { action: "cancel" } : { action: "accept", content: { decision } };
  });
  await client.connect(transport);
  mcp = await connectionOf(client, transport, () => "");
  return { ...mcp, questions };
}

test("the person at the client is asked about each host that a program waits for", {
  tags: ["curl"],
}, async () => {
  const person = await connectPerson(["never"]);
  const { id: sandbox_id } = await person.result("create_sandbox", {
    template_name: "base",
    ask_egress: true,
  });
  const command = "curl -sS https://one.test/; curl -sS https://one.test/; curl -sS https://two.test/";
  const { stderr } = await person.result("run_command", { sandbox_id, command });
  expect(String(stderr).match(/403/g)).toHaveLength(3);
  // The second time it is on the list, and a question that is closed refuses once.
  expect(person.questions.map((question) => /to (\S+):443/.exec(question)?.[1])).toEqual([
    "one.test",
    "two.test",
  ]);
});

test("a client that cannot ask is told so", async () => {
  mcp = await connect();
  expect(await mcp.failure("create_sandbox", { ask_egress: true })).toContain("no elicitation");
});
