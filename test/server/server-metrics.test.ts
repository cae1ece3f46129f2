import { afterAll, beforeAll, expect, test } from "vitest";
import { ControlPlaneCaller } from "../support/control-plane-caller.js";
import { type LocalServer, startLocalServer } from "../support/local-server.js";

let server: LocalServer;
let api: ControlPlaneCaller;

beforeAll(async () => {
  server = await startLocalServer({ args: ["--pool", "1", "--metrics"] });
  api = new ControlPlaneCaller(server);
});
afterAll(() => server?.stop());

const read = (headers: Record<string, string>) => fetch(`${server.url}/metrics`, { headers });
const metrics = async (): Promise<string> =>
  (await read({ authorization: `Bearer ${server.apiKey}` })).text();

test("a server with --metrics measures its pool, boots, sandboxes, programs, executions, egress and errors", {
  tags: ["curl"],
}, async () => {
  const sandbox = await api.create();
  await api.run(sandbox, "curl -s http://127.0.0.2.nip.invalid || true");
  for (const code of ["print(1)", "exit(3)"])
    await api.call("POST", "/executions", { code, language: "python" });
  await api.call("GET", "/sandboxes/nope");
  await expect.poll(metrics).toContain('cloud_sandbox_pool_machines{template="code-interpreter"} 1');
  const text = await metrics();
  for (const line of [
    /^cloud_sandbox_boot_seconds_count\{outcome="booted"\} [1-9]/m,
    /^cloud_sandbox_sandboxes\{status="running"\} 1$/m,
    /^cloud_sandbox_program_seconds_count\{outcome="succeeded"\} 1$/m,
    /^cloud_sandbox_program_seconds_count\{outcome="failed"\} 1$/m,
    /^cloud_sandbox_execution_seconds_count\{path="\/commands\/run",outcome="answered"\} 1$/m,
    /^cloud_sandbox_programs_waiting 0$/m,
    /^cloud_sandbox_programs_ready [012]$/m,
    /^cloud_sandbox_egress_connections_total\{decision="(refused|failed)"\} 1$/m,
    /^cloud_sandbox_errors_total\{code="SANDBOX_NOT_FOUND"\} 1$/m,
  ])
    expect(text).toMatch(line);
  expect(text).not.toContain(sandbox.id);
});

test("only the server's own key reads them", async () => {
  const { body } = await api.call("POST", "/keys", { name: "other" });
  expect((await read({})).status).toBe(401);
  expect((await read({ authorization: `Bearer ${body.key}` })).status).toBe(403);
  const { headers, status } = await read({ "x-api-key": server.apiKey });
  expect([status, headers.get("content-type")]).toEqual([200, expect.stringContaining("text/plain")]);
});

test("a server without the option has none", async () => {
  const plain = await startLocalServer({ args: ["--pool", "0"] });
  const { status } = await fetch(`${plain.url}/metrics`, { headers: { "x-api-key": plain.apiKey } });
  await plain.stop();
  expect(status).toBe(404);
});
