import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SandboxClient } from "cloud-sandbox";
import { expect, onTestFinished, test } from "vitest";
import { runBuilt } from "../support/built-program.js";
import { ControlPlaneCaller } from "../support/control-plane-caller.js";
import { FrameSocket } from "../support/frame-socket.js";
import { startLocalServer } from "../support/local-server.js";

test("the audit log says which key created, ran and deleted what, and holds no code and no values", async () => {
  const directory = await mkdtemp(join(tmpdir(), "audit-log-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const path = join(directory, "audit.jsonl");
  const server = await startLocalServer({ args: ["--pool", "0", "--audit-log", path] });
  const owner = new ControlPlaneCaller(server);
  const { body } = await owner.call("POST", "/keys", { name: "ci" });
  const ci = new ControlPlaneCaller({ url: server.url, apiKey: String(body.key) });
  const sandbox = await ci.create({ env_vars: { SECRET: "hidden-value" } });
  await ci.run(sandbox, "echo hidden-code");
  (await FrameSocket.open(`${sandbox.public_host}/stream`, sandbox.auth_token))[Symbol.dispose]();
  await ci.run({ ...sandbox, auth_token: `${sandbox.auth_token}x` }, "echo forged");
  await ci.call("GET", "/sandboxes");
  const program = { code: "'hidden-code'", language: "python" };
  await ci.call("POST", "/executions", program, { "X-Forwarded-For": "203.0.113.7" });
  await new ControlPlaneCaller({ url: server.url, apiKey: "wrong" }).call(
    "DELETE",
    `/sandboxes/${sandbox.id}`,
  );
  await owner.call("DELETE", `/sandboxes/${sandbox.id}`);
  await server.stop();

  const text = await readFile(path, "utf8");
  const lines = text.trim().split("\n");
  const of = { sandbox: sandbox.id, from: "127.0.0.1" };
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({ key: "owner", operation: "createApiKey", status: 201 }),
    expect.objectContaining({ key: "ci", operation: "createSandbox", status: 201, ...of }),
    expect.objectContaining({ key: "ci", operation: "runCommand", status: 200, ...of }),
    expect.objectContaining({ key: "ci", operation: expect.any(String), status: 101, ...of }),
    expect.objectContaining({ key: "ci", operation: "runProgram", forwarded_for: "203.0.113.7" }),
    expect.objectContaining({ key: "owner", operation: "deleteSandbox", status: 200, ...of }),
  ]);
  expect(text).not.toContain("hidden");
  expect(text).not.toContain(String(body.key));
});

test("the audit log has a line for each large file and for each connection to a port", async () => {
  const directory = await mkdtemp(join(tmpdir(), "audit-log-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const path = join(directory, "audit.jsonl");
  const server = await startLocalServer({ args: ["--pool", "0", "--audit-log", path] });
  const client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
  const sandbox = await client.sandboxes.create();
  await sandbox.files.write("a", new Uint8Array(1024 * 1024));
  await using forward = await sandbox.ports.forward(4444);
  await once(connect(forward.localPort, forward.localHost), "close").catch(() => undefined);
  await sandbox.delete();
  await client.close();
  await server.stop();

  const operations = (await readFile(path, "utf8")).trim().split("\n");
  expect(
    operations.map((line) => JSON.parse(line)).map(({ operation, status }) => [operation, status]),
  ).toEqual([
    ["createSandbox", 201],
    ["uploadFile", 200],
    ["openPortTunnel", 404],
    ["deleteSandbox", 200],
  ]);
});

test("a server whose audit log cannot be written does not start, and names the option", async () => {
  const { code, stderr } = await runBuilt("local", ["serve", "--audit-log", "/nowhere/audit.jsonl"]);
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("--audit-log") });
});
