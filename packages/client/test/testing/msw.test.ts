import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, expect, expectTypeOf, onTestFinished, test } from "vitest";
import { RateLimitError, SandboxClient } from "../../src/index.js";
import { TestingService } from "../../src/testing/index.js";
import { agentHttp, controlPlaneHttp, serviceHandlers } from "../../src/testing/msw.js";

const service = new TestingService({ programs: { "print(42)": "42\n" } });
const controlPlane = controlPlaneHttp(service);
const agent = agentHttp(service);
const server = setupServer(...serviceHandlers(service));

beforeAll(() => server.listen({ onUnhandledRequest: "error" }));
afterEach(() => server.resetHandlers());
afterAll(() => server.close());

/** A client that does not use the testing service directly: msw intercepts its requests. */
function unawareClient(): SandboxClient {
  const { apiKey, baseUrl } = service;
  const options = { apiKey, baseUrl, retry: false, deleteOnSignal: false } as const;
  const client = new SandboxClient({ ...options, fetch: (request) => globalThis.fetch(request) });
  onTestFinished(() => client.close());
  return client;
}

test("with msw, all requests are answered by the testing service", async () => {
  const client = unawareClient();
  const sandbox = await client.sandboxes.create();
  expect((await sandbox.execute("print(42)")).stdout).toBe("42\n");
  await sandbox.files.write("note.txt", "kept");
  expect(service.filesOf(sandbox.id).readText("note.txt")).toBe("kept");
});

test("with msw, one operation of the control plane is answered by the test, as its contract allows", async () => {
  server.use(
    controlPlane.post("/v1/sandboxes", ({ response }) =>
      response(429).json({ error: { code: "RATE_LIMIT_EXCEEDED", message: "Too many." } }),
    ),
  );
  await expect(unawareClient().sandboxes.create()).rejects.toThrow(RateLimitError);
});

test("with msw, one operation of all agents is answered by the test", async () => {
  server.use(
    agent.post("/execute/rich", async ({ request, response }) => {
      const { code } = await request.json();
      expectTypeOf(code).toBeString();
      return response(200).json({
        success: false,
        stdout: code,
        stderr: "",
        exit_code: 9,
        execution_time: 1,
      });
    }),
  );
  const sandbox = await unawareClient().sandboxes.create();
  expect(await sandbox.execute("anything")).toMatchObject({ stdout: "anything", exitCode: 9 });
});
