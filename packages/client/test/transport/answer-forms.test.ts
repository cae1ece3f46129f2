import { describe, expect, test } from "vitest";
import { type Sandbox, type SandboxClient, Template } from "../../src/index.js";
import { rejection } from "../support/clients.js";
import { ok, sandboxWith } from "../support/sandbox-of-service.js";
import { finished } from "../support/sandbox-service.js";

type Call = (sandbox: Sandbox, client: SandboxClient) => Promise<unknown>;

const listed = { data: [], has_more: true };
const firstOf = async (list: AsyncIterable<unknown>): Promise<void> => {
  for await (const _ of list);
};

const cases: [operation: string, body: unknown, call: Call][] = [
  ["POST /execute/rich", finished({ rich_outputs: {} }), (sandbox) => sandbox.execute("1")],
  ["POST /execute/rich", finished({ rich_outputs: [null] }), (sandbox) => sandbox.execute("1")],
  ["POST /execute/rich", finished({ stderr: {} }), (sandbox) => sandbox.execute("1")],
  ["POST /commands/run", finished({ exit_code: 1, stderr: {} }), (sandbox) => sandbox.ports.waitForPort(80)],
  ["GET /execute/processes", { processes: {} }, (sandbox) => sandbox.processes.list()],
  ["GET /execute/processes", { processes: [null] }, (sandbox) => sandbox.processes.get("proc_1").status()],
  ["GET /files/list", { files: {} }, (sandbox) => sandbox.files.list()],
  ["GET /files/list", { files: [{ is_directory: true }] }, (sandbox) => firstOf(sandbox.files.walk())],
  ["GET /processes", { processes: [null] }, (sandbox) => sandbox.system.processes()],
  ["GET /jupyter/sessions", { sessions: {} }, (sandbox) => sandbox.contexts.list()],
  ["GET /desktop/windows/list", { windows: [null] }, (sandbox) => sandbox.desktop.windows.list()],
  ["GET /v1/sandboxes", { data: {} }, (_, client) => firstOf(client.sandboxes.list())],
  ["GET /v1/sandboxes", { data: [null] }, (_, client) => firstOf(client.sandboxes.list({ name: "a" }))],
  ["GET /v1/sandboxes", { ...listed, next_cursor: {} }, (_, client) => firstOf(client.sandboxes.list())],
  ["GET /v1/sandboxes", { ...listed, next_cursor: [] }, (_, client) => firstOf(client.sandboxes.list())],
  ["GET /v1/templates", { data: [null] }, (_, client) => firstOf(client.templates.list())],
  ["GET /v1/templates", { ...listed, next_cursor: [] }, (_, client) => firstOf(client.templates.list())],
  [
    "GET /v1/templates/code-interpreter",
    { id: "1", name: "a", features: {} },
    (_, client) => client.templates.forImage("python"),
  ],
  [
    "POST /v1/templates/build",
    { build_id: {}, template_id: {} },
    (_, client) => client.templates.build(Template.from("base").run("ls"), { name: "a" }),
  ],
  ["POST /v1/sandboxes/abc/token/refresh", { auth_token: [] }, (sandbox) => sandbox.refreshToken()],
];

describe("an answer of another form than the contract's is an error that says so", () => {
  test.each(cases)("%s: %j", async (operation, body, call) => {
    const { client, sandbox } = await sandboxWith({ [operation]: ok(body) });
    expect(await rejection(call(sandbox, client))).toMatchObject({
      name: "InvalidResponseError",
      code: "INVALID_RESPONSE",
      status: 200,
      requestId: expect.any(String),
    });
  });
});
