// @module-tag curl
import { afterAll, beforeAll, expect, it } from "vitest";
import { connect, type McpConnection } from "../support/mcp-connection.js";

let mcp: McpConnection;
beforeAll(async () => {
  mcp = await connect();
});
afterAll(() => mcp.client.close());

/** A request to an address that is reserved for documentation. The proxy refuses it, so nothing is sent. */
const code = "curl -sS --noproxy '' http://192.0.2.1/";

const proxyAnswer = {
  open: /192\.0\.2\.1:80 is not on the public internet/,
  closed: /no internet access/,
};

it.each([
  ["execute_code_isolated", true, proxyAnswer.open],
  ["execute_code_isolated", false, proxyAnswer.closed],
  ["execute_code", true, proxyAnswer.open],
  ["execute_code", false, proxyAnswer.closed],
])("%s creates its sandbox with internet_access: %s", async (tool, internet_access, answer) => {
  const run = await mcp.result(tool, { code, language: "bash", internet_access });
  expect(`${run.stdout}${run.stderr}`).toMatch(answer);
});

it.each([
  [true, proxyAnswer.open],
  [false, proxyAnswer.closed],
])("create_sandbox creates a sandbox with internet_access: %s", async (internet_access, answer) => {
  const { id } = await mcp.result("create_sandbox", { internet_access });
  const run = await mcp.result("execute_code", { sandbox_id: id, code, language: "bash" });
  expect(`${run.stdout}${run.stderr}`).toMatch(answer);
  await mcp.result("delete_sandbox", { id });
});
