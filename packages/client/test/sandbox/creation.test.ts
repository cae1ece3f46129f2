import { once } from "node:events";
import { describe, expect, test } from "vitest";
import type { CreateSandboxOptions, SandboxError } from "../../src/index.js";
import { carriers, rejection, testClient } from "../support/clients.js";
import { finished, sandboxService, wireSandbox } from "../support/sandbox-service.js";
import { type Handler, inTurn, json } from "../support/scripted-server.js";

const create = "POST /v1/sandboxes";
const oneShot = "POST /v1/executions";
const get = "GET /v1/sandboxes/abc";
const remove = "DELETE /v1/sandboxes/abc";
const answer =
  (status: number, body: unknown = {}): Handler =>
  (_, response) =>
    json(response, status, body);

describe.each(carriers)("over %s, a create", (_, carrier) => {
  test("sends its options in the names of the HTTP API", async () => {
    const { controlPlane } = await sandboxService({
      [create]: answer(201, wireSandbox("http://127.0.0.1:9", { egress: { allow: ["pypi.org"] } })),
    });
    const sandbox = await testClient(controlPlane.url, carrier).sandboxes.create({
      template: "base",
      timeoutSeconds: 60,
      region: "eu",
      internetAccess: true,
      egress: { allow: ["pypi.org"] },
      env: { A: "1" },
      name: "mine",
      metadata: { owner: "me" },
      minIsolation: "namespace",
    });
    expect(controlPlane.requests[0]?.json).toEqual({
      template_name: "base",
      timeout_seconds: 60,
      region: "eu",
      internet_access: true,
      egress: { allow: ["pypi.org"] },
      env_vars: { A: "1" },
      name: "mine",
      metadata: { owner: "me" },
      min_isolation: "namespace",
    });
    expect(sandbox).toMatchObject({ id: "abc", status: "running", isolation: "namespace" });
    expect(JSON.stringify(sandbox)).not.toContain("eyJ");
  });

  test.each<[string, CreateSandboxOptions, object]>([
    ["nothing", {}, { template_name: "code-interpreter" }],
    ["an id", { templateId: "20" }, { template_id: "20" }],
  ])("sends no field for an option that was not given: %s", async (_, options, expected) => {
    const { controlPlane } = await sandboxService();
    await testClient(controlPlane.url, carrier).sandboxes.create(options);
    expect(controlPlane.requests[0]?.json).toEqual(expected);
  });

  test.each<[string, CreateSandboxOptions]>([
    ["a lifetime of 0", { timeoutSeconds: 0 }],
    ["a lifetime of half a second", { timeoutSeconds: 0.5 }],
    ["a lifetime over a day", { timeoutSeconds: 86_401 }],
    ["a name and an id", { template: "base", templateId: "1" }],
  ])("is refused for %s before anything is sent", async (_, options) => {
    const { controlPlane } = await sandboxService();
    const thrown = await rejection(testClient(controlPlane.url, carrier).sandboxes.create(options));
    expect(thrown).toMatchObject({ name: "ValidationError", status: undefined, code: "INVALID_ARGUMENT" });
    expect(controlPlane.requests).toEqual([]);
  });

  test("is one request, with the environment, to a server that keeps our contract", async () => {
    const { controlPlane, agent } = await sandboxService();
    await testClient(controlPlane.url, carrier).sandboxes.create({ env: { A: "1" } });
    expect(controlPlane.calls()).toEqual([create]);
    expect(agent.calls()).toEqual([]);
  });

  test("waits for a sandbox that is still being created", async () => {
    const { controlPlane, agent } = await sandboxService({
      [create]: (_, response) =>
        json(response, 201, { id: "abc", status: "creating", isolation: "namespace" }),
      [get]: inTurn(
        (_, response) => json(response, 200, { id: "abc", status: "creating", isolation: "namespace" }),
        (_, response) => json(response, 200, wireSandbox(agent.url)),
      ),
    });
    const sandbox = await testClient(controlPlane.url, carrier).sandboxes.create();
    expect(sandbox.status).toBe("running");
    await sandbox.execute("1");
    expect(controlPlane.calls()).toEqual([create, get, get]);
  });

  describe("of a server that answers before the agent is ready", () => {
    const early =
      (agentUrl: () => string): Handler =>
      (_, response) =>
        json(response, 201, wireSandbox(agentUrl(), { isolation: undefined }));

    test("waits until the agent accepts the token", async () => {
      const { controlPlane, agent } = await sandboxService({
        [create]: early(() => agent.url),
        "GET /files/exists": inTurn(
          answer(502),
          (_, response) => response.destroy(),
          answer(404, { error: "no such sandbox yet" }),
          answer(401, { error: "unknown token" }),
          answer(503),
          answer(200, { exists: true, path: "/workspace" }),
        ),
      });
      await testClient(controlPlane.url, carrier).sandboxes.create();
      expect(agent.requests).toHaveLength(6);
      expect(controlPlane.calls()).toEqual([create]);
    });

    test("sets the environment, which such servers do not apply, by a second request", async () => {
      const { controlPlane, agent } = await sandboxService({
        [create]: early(() => agent.url),
        "PATCH /env": inTurn(answer(502), answer(200, { env_vars: { A: "1" } })),
      });
      await testClient(controlPlane.url, carrier).sandboxes.create({ env: { A: "1" } });
      expect(agent.calls()).toEqual(["PATCH /env", "PATCH /env"]);
      expect(agent.requests[1]?.json).toEqual({ env_vars: { A: "1" }, merge: true });
    });

    test("fails on an error other than those of an agent that is not ready yet, and deletes the sandbox", async () => {
      const { controlPlane } = await sandboxService({
        [create]: early(() => controlPlane.url),
        "PATCH /env": answer(400, { error: "A is no name", code: "INVALID_REQUEST" }),
      });
      const thrown = await rejection(
        testClient(controlPlane.url, carrier).sandboxes.create({ env: { A: "1" } }),
      );
      expect(thrown).toMatchObject({ name: "ValidationError", code: "INVALID_REQUEST" });
      expect(controlPlane.calls()).toEqual([create, "PATCH /env", remove]);
    });
  });

  describe("that fails half-way deletes the sandbox", () => {
    test.each<[string, Record<string, Handler>, CreateSandboxOptions, object]>([
      [
        "when it breaks down while it starts",
        {
          [create]: answer(201, { id: "abc", status: "creating" }),
          [get]: answer(200, { id: "abc", status: "error", failure_reason: "out of disk" }),
        },
        {},
        { code: "SANDBOX_FAILED", message: expect.stringContaining("out of disk") },
      ],
      [
        "when its address is not for a token",
        { [create]: answer(201, wireSandbox("ftp://example.com")) },
        {},
        { code: "PUBLIC_HOST_REFUSED" },
      ],
      [
        "when it is isolated less than was asked for",
        { [create]: answer(201, wireSandbox("http://127.0.0.1:9")) },
        { minIsolation: "microvm" },
        { code: "ISOLATION_NOT_MET" },
      ],
      [
        "when nobody says how it is isolated, and that was asked for",
        { [create]: answer(201, wireSandbox("http://127.0.0.1:9", { isolation: undefined })) },
        { minIsolation: "container" },
        { code: "ISOLATION_NOT_MET" },
      ],
      [
        "when nobody says that it keeps to the egress lists",
        { [create]: answer(201, wireSandbox("http://127.0.0.1:9")) },
        { internetAccess: true, egress: { allow: ["pypi.org"] } },
        { code: "EGRESS_NOT_MET" },
      ],
      [
        "when nobody says that it is kept at its deadline",
        { [create]: answer(201, wireSandbox("http://127.0.0.1:9")) },
        { onTimeout: "stop" },
        { code: "SLEEP_NOT_MET" },
      ],
      [
        "when it has a directory itself instead of a copy",
        {
          [create]: answer(
            201,
            wireSandbox("http://127.0.0.1:9", { mounts: { "/repo": { host: "/repo" } } }),
          ),
        },
        { mounts: { "/repo": { host: "/repo", mode: "copy" } } },
        { code: "MOUNTS_NOT_MET" },
      ],
      [
        "when nobody says that it has the secrets",
        { [create]: answer(201, wireSandbox("http://127.0.0.1:9")) },
        { secrets: { TOKEN: { value: "credential", hosts: ["api.example.com"] } } },
        { code: "SECRETS_NOT_MET" },
      ],
      [
        "when it lacks one of the secrets",
        { [create]: answer(201, wireSandbox("http://127.0.0.1:9", { secrets: [] })) },
        { secrets: { TOKEN: { value: "credential", hosts: ["api.example.com"] } } },
        { code: "SECRETS_NOT_MET" },
      ],
      [
        "when it never gets ready",
        {
          [create]: answer(201, { id: "abc", status: "creating" }),
          [get]: answer(200, { id: "abc", status: "creating" }),
        },
        { requestTimeoutSeconds: 1 },
        { name: "TimeoutError", kind: "request" },
      ],
    ])("%s", async (_, overrides, options, expected) => {
      const { controlPlane } = await sandboxService(overrides);
      const thrown = await rejection(testClient(controlPlane.url, carrier).sandboxes.create(options));
      expect(thrown).toMatchObject(expected);
      expect(controlPlane.calls().at(-1)).toBe(remove);
    });

    test("and says so if that fails too", async () => {
      const warnings: SandboxError[] = [];
      const { controlPlane } = await sandboxService({
        [create]: answer(201, wireSandbox("ftp://example.com")),
        [remove]: answer(500, { error: "no" }),
      });
      const hooks = { onWarning: (warning: SandboxError) => warnings.push(warning) };
      const thrown = await rejection(testClient(controlPlane.url, { ...carrier, hooks }).sandboxes.create());
      expect(thrown).toMatchObject({ code: "PUBLIC_HOST_REFUSED", cleanupError: { name: "ServerError" } });
      expect(warnings).toMatchObject([{ name: "ServerError" }]);
    });
  });

  test("whose sandbox could not be deleted is a warning of the process if no logger is set", async () => {
    const { controlPlane } = await sandboxService({
      [create]: answer(201, wireSandbox("ftp://example.com")),
      [remove]: answer(500, { error: "not now" }),
    });
    const warned = once(process, "warning");
    await rejection(testClient(controlPlane.url, carrier).sandboxes.create());
    expect(await warned).toMatchObject([
      { name: "SandboxWarning", message: expect.stringContaining("not now") },
    ]);
  });

  describe("that was given up deletes the sandbox when it comes after all", () => {
    test.each(["a signal", "its time limit"])("%s", async (reason) => {
      let comes: (() => void) | undefined;
      const { controlPlane, agent } = await sandboxService({
        [create]: (_, response) => {
          comes = () => json(response, 201, wireSandbox(agent.url));
        },
      });
      const client = testClient(controlPlane.url, carrier);
      const controller = new AbortController();
      const options = reason === "a signal" ? { signal: controller.signal } : { requestTimeoutSeconds: 1 };
      const thrown = rejection(client.sandboxes.create(options));
      await expect.poll(() => comes).toBeDefined();
      controller.abort();
      expect(await thrown).toMatchObject({ name: reason === "a signal" ? "AbortError" : "TimeoutError" });
      const closed = client.close();
      comes?.();
      await closed;
      expect(controlPlane.calls().filter((call) => call !== "GET /health")).toEqual([create, remove]);
    });
  });

  test("whose signal has fired sends nothing", async () => {
    const { controlPlane } = await sandboxService();
    const thrown = await rejection(
      testClient(controlPlane.url, carrier).sandboxes.create({ signal: AbortSignal.abort() }),
    );
    expect(thrown).toMatchObject({ name: "AbortError" });
    expect(controlPlane.requests).toEqual([]);
  });
});

describe.each(carriers)("over %s, an isolated execution", (_, carrier) => {
  test("is three requests to a server that runs no programs without a sandbox, after one that it refuses", async () => {
    const { controlPlane, agent } = await sandboxService();
    const result = await testClient(controlPlane.url, carrier).executeIsolated("print(1)", {
      env: { A: "1" },
    });
    expect(result).toMatchObject({ stdout: "1\n", exitCode: 0, sandboxId: "abc", isolation: "namespace" });
    expect(result.cleanupError).toBeUndefined();
    expect(controlPlane.calls()).toEqual([oneShot, create, remove]);
    expect(agent.calls()).toEqual(["POST /execute/rich"]);
    expect(agent.requests[0]?.json).toEqual({
      code: "print(1)",
      language: "python",
      timeout: 30,
      env: { A: "1" },
      capture_rich: true,
    });
    expect(controlPlane.requests[1]?.json).toMatchObject({ timeout_seconds: 600 });
  });

  test("of a program that fails is a result", async () => {
    const { controlPlane } = await sandboxService({
      "POST /execute/rich": answer(200, finished({ success: false, exit_code: 3, stderr: "boom" })),
    });
    const result = await testClient(controlPlane.url, carrier).executeIsolated("exit(3)");
    expect(result).toMatchObject({ success: false, exitCode: 3, stderr: "boom" });
  });

  test.each<[string, Handler, object]>([
    [
      "is refused",
      answer(400, { error: "no cobol", code: "LANGUAGE_NOT_AVAILABLE" }),
      { name: "ValidationError" },
    ],
    ["breaks", (_, response) => response.destroy(), { name: "NetworkError", retryable: false }],
    ["ends in a page", answer(502), { name: "ServerError", retryable: false }],
  ])("that %s deletes the sandbox and is not repeated", async (_, fault, expected) => {
    const { controlPlane, agent } = await sandboxService({ "POST /execute/rich": fault });
    expect(await rejection(testClient(controlPlane.url, carrier).executeIsolated("1"))).toMatchObject(
      expected,
    );
    expect(agent.calls()).toEqual(["POST /execute/rich"]);
    expect(controlPlane.calls()).toEqual([oneShot, create, remove]);
  });

  test("that is aborted closes its connection and has deleted the sandbox when it rejects", async () => {
    let killed = false;
    const { controlPlane, agent } = await sandboxService({
      "POST /execute/rich": (_, response) => response.on("close", () => (killed = true)),
    });
    const controller = new AbortController();
    const pending = rejection(
      testClient(controlPlane.url, carrier).executeIsolated("1", { signal: controller.signal }),
    );
    await expect.poll(() => agent.requests.length).toBe(1);
    controller.abort(new Error("enough"));
    expect(await pending).toMatchObject({ name: "AbortError", reason: { message: "enough" } });
    expect(controlPlane.calls()).toEqual([oneShot, create, remove]);
    await expect.poll(() => killed).toBe(true);
  });

  test("whose sandbox cannot be deleted gives its result, and says so", async () => {
    const warnings: SandboxError[] = [];
    const { controlPlane } = await sandboxService({ [remove]: answer(500, { error: "no" }) });
    const hooks = { onWarning: (warning: SandboxError) => warnings.push(warning) };
    const result = await testClient(controlPlane.url, { ...carrier, hooks }).executeIsolated("1");
    expect(result).toMatchObject({ stdout: "1\n", cleanupError: { name: "ServerError" } });
    expect(warnings).toHaveLength(1);
  });

  test("names no file of output in a sandbox that was deleted", async () => {
    const file = "/tmp/.sandbox/exec_1.stdout";
    const stdout = `head\n[... 9 bytes cut; the full output is in ${file} ...]\ntail`;
    const cut = finished({ stdout, stdout_truncated: true, stdout_bytes: 99, stdout_file: file });
    const { controlPlane } = await sandboxService({ "POST /execute/rich": answer(200, cut) });
    const result = await testClient(controlPlane.url, carrier).executeIsolated("1");
    expect(result.stdout).toBe(
      "head\n[... 9 bytes cut; the full output is in the sandbox, which is deleted ...]\ntail",
    );
    expect(result.output).toEqual({
      stdout: { truncated: true, bytes: 99, file: undefined },
      stderr: { truncated: false, bytes: undefined, file: undefined },
    });
  });

  test("names the file of output if its sandbox still exists", async () => {
    const { controlPlane } = await sandboxService({
      "POST /execute/rich": answer(200, finished({ stdout: "cut: /tmp/all", stdout_file: "/tmp/all" })),
      [remove]: answer(500, { error: "no" }),
    });
    const options = { ...carrier, hooks: { onWarning: () => undefined } };
    expect(await testClient(controlPlane.url, options).executeIsolated("1")).toMatchObject({
      stdout: "cut: /tmp/all",
      output: { stdout: { file: "/tmp/all" } },
    });
  });

  test.each<[string, unknown, object]>([
    ["code must be text; it is of type number.", 5, {}],
    ["code must be text; it is undefined.", undefined, {}],
    ["code must be text; it is null.", null, {}],
    ["language must be a name", "1", { language: 3 }],
    ["language must be a name", "1", { language: "" }],
    ["signal must be an AbortSignal.", "1", { signal: {} }],
    ["executeBackground()", "1", { timeoutSeconds: 301 }],
  ])("creates nothing where %s", async (message, code, options) => {
    const { controlPlane } = await sandboxService();
    const client = testClient(controlPlane.url, carrier);
    const thrown = await rejection(Reflect.apply(client.executeIsolated, client, [code, options]));
    expect(thrown).toMatchObject({ name: "ValidationError", message: expect.stringContaining(message) });
    expect(controlPlane.requests).toEqual([]);
  });

  test.each([0, 301, 1.5, -1, Number.NaN])("with a timeout of %d creates nothing", async (timeout) => {
    const { controlPlane } = await sandboxService();
    const thrown = await rejection(
      testClient(controlPlane.url, carrier).executeIsolated("1", { timeoutSeconds: timeout }),
    );
    expect(thrown).toMatchObject({ name: "ValidationError" });
    expect(controlPlane.requests).toEqual([]);
  });

  test("reports its steps; a reporter that throws leaves no sandbox", async () => {
    const { controlPlane } = await sandboxService();
    const client = testClient(controlPlane.url, carrier);
    const steps: string[] = [];
    await client.executeIsolated("1", { onStep: (step) => steps.push(step) });
    // Whether the server runs programs without a sandbox shows only when it is asked to.
    expect(steps).toEqual(["execute", "create", "execute", "delete"]);
    for (const failing of ["execute", "delete"]) {
      controlPlane.requests.length = 0;
      const onStep = (step: string): void => {
        if (step === failing) throw new Error(`not ${step}`);
      };
      await expect(client.executeIsolated("1", { onStep })).rejects.toThrow(`not ${failing}`);
      expect(controlPlane.calls()).toContain(remove);
    }
  });
});
