import { describe, expect, test } from "vitest";
import { ValidationError } from "../../src/index.js";
import { rejection } from "../support/clients.js";
import { finished, sandboxService, withSandbox } from "../support/sandbox-service.js";
import { type Handler, inTurn, json } from "../support/scripted-server.js";

/** The answer to a request for the output of a background job. */
function piece(fields: Record<string, unknown> = {}): Record<string, unknown> {
  const stream = { stdout: "", stdout_start: 0, stdout_offset: 0, stdout_bytes: 0 };
  const other = { stderr: "", stderr_start: 0, stderr_offset: 0, stderr_bytes: 0 };
  return { process_id: "proc_1", status: "running", complete: false, ...stream, ...other, ...fields };
}

const outputOf = "GET /execute/processes/proc_1/output";

describe("a background job", () => {
  test("is started with a request in the names of the HTTP API", async () => {
    const { agent } = await sandboxService({
      "POST /execute/background": (_, response) => json(response, 200, { process_id: "proc_1" }),
      "POST /execute/async": (_, response) => json(response, 202, { execution_id: "exec_1" }),
      "POST /commands/background": (_, response) => json(response, 200, { process_id: "cmd_1" }),
    });
    const sandbox = await withSandbox(agent.url);
    const shared = { env: { A: "1" }, workdir: "/tmp", name: "n" };
    const options = { ...shared, timeoutSeconds: 4000 };
    expect((await sandbox.executeBackground("1", { ...options, language: "go" })).id).toBe("proc_1");
    const hook = { callbackHeaders: { "x-a": "1" }, callbackSecret: "s" };
    expect((await sandbox.executeAsync("1", "https://a.example/hook", hook)).id).toBe("exec_1");
    expect((await sandbox.commands.runBackground(["ls", "-l"], options)).id).toBe("cmd_1");
    expect(agent.requests.map((request) => request.json)).toEqual([
      { code: "1", language: "go", ...shared, timeout: 4000 },
      {
        code: "1",
        language: "python",
        timeout: 3600,
        callback_url: "https://a.example/hook",
        callback_headers: { "x-a": "1" },
        callback_signature_secret: "s",
      },
      { command: "ls", args: ["-l"], ...shared, timeout: 4000 },
    ]);
  });

  test("is awaited no longer than waitAtMost says, even for less than the second in which servers count", async () => {
    const { agent } = await sandboxService({ [outputOf]: (_, response) => json(response, 200, piece()) });
    const job = (await withSandbox(agent.url)).processes.get("proc_1");
    expect(await job.waitAtMost(0.1)).toBeUndefined();
    expect(agent.requests.length).toBeGreaterThan(1);
    for (const { path } of agent.requests) expect(path).not.toContain("wait=");
    const signal = AbortSignal.timeout(20);
    expect(await rejection(job.waitAtMost(0.9, { signal }))).toMatchObject({ name: "AbortError" });
  });

  test("is asked about less and less often if the server answers at once that it is still running", async () => {
    const { agent } = await sandboxService({ [outputOf]: (_, response) => json(response, 200, piece()) });
    const job = (await withSandbox(agent.url)).processes.get("proc_1");
    expect(await job.waitAtMost(2)).toBeUndefined();
    // A client that did not pause between requests would send hundreds.
    expect(agent.requests.length).toBeLessThan(25);
  });

  test("is awaited by requests that wait for a minute, and each continues where the last one ended", async () => {
    const { agent } = await sandboxService({
      [outputOf]: inTurn(
        (_, response) => json(response, 200, piece()),
        (_, response) => json(response, 200, piece({ status: "failed", exit_code: 2, duration: 3 })),
        (_, response) => json(response, 200, piece({ stdout: "ab", stdout_offset: 2 })),
        (_, response) =>
          json(response, 200, piece({ stdout: "ü", stdout_start: 5, stdout_offset: 7, complete: true })),
      ),
    });
    const job = (await withSandbox(agent.url)).processes.get("proc_1");
    expect(await job.wait()).toMatchObject({
      status: "failed",
      success: false,
      exitCode: 2,
      durationSeconds: 3,
    });
    const seen: [string, number][] = [];
    for await (const { text, skippedBytes } of job.follow()) seen.push([text, skippedBytes]);
    expect(seen).toEqual([
      ["ab", 0],
      ["ü", 3],
    ]);
    expect(agent.calls().map((call) => call.split("?")[1])).toEqual([
      "limit=16&wait=60",
      "limit=16&wait=60",
      "stdout_offset=0&stderr_offset=0",
      "stdout_offset=2&stderr_offset=0",
    ]);
  });

  test.each([
    ["timeout", (sandbox) => sandbox.executeBackground("1", { timeoutSeconds: 86_401 })],
    ["timeout", (sandbox) => sandbox.commands.runBackground("ls", { timeoutSeconds: 0 })],
    ["name", (sandbox) => sandbox.executeBackground("1", { name: "n".repeat(201) })],
    ["code", (sandbox) => Reflect.apply(sandbox.executeBackground, sandbox, [1])],
    ["callbackUrl", (sandbox) => sandbox.executeAsync("1", "ftp://a.example")],
    ["callbackSecret", (sandbox) => sandbox.executeAsync("1", "https://a.example", { callbackSecret: "" })],
    ["stdoutOffset", (sandbox) => sandbox.processes.get("proc_1").output({ stdoutOffset: -1 })],
    ["limit", (sandbox) => sandbox.processes.get("proc_1").output({ limit: 0.5 })],
    ["cache", (sandbox) => sandbox.execute("1", { cache: true, context: "c" })],
    ["context", (sandbox) => sandbox.execute("1", { context: "c".repeat(65) })],
    ["..", async (sandbox) => sandbox.processes.get("..")],
  ] as [string, (sandbox: Awaited<ReturnType<typeof withSandbox>>) => Promise<unknown>][])(
    "is refused with an invalid %s, before anything is sent",
    async (_, call) => {
      const { agent } = await sandboxService();
      const sandbox = await withSandbox(agent.url);
      expect(await rejection(call(sandbox))).toBeInstanceOf(ValidationError);
      expect(agent.requests).toEqual([]);
    },
  );
});

describe("a start of a background job whose caller gives up", () => {
  const asked = async (overrides: Record<string, Handler>) => {
    const stopping = new AbortController();
    const { agent } = await sandboxService({
      "POST /execute/background": (_, response) => {
        stopping.abort("enough");
        setTimeout(() => json(response, 200, { process_id: "proc_1" }), 50);
      },
      ...overrides,
    });
    const sandbox = await withSandbox(agent.url);
    return { agent, failure: await rejection(sandbox.executeBackground("1", { signal: stopping.signal })) };
  };

  test("is awaited for a moment, and the job that it started is killed", async () => {
    const { agent, failure } = await asked({
      "DELETE /execute/kill": (_, response) => json(response, 200, { success: true }),
    });
    expect(failure).toMatchObject({ name: "AbortError", reason: "enough" });
    expect(agent.calls()).toEqual(["POST /execute/background", "DELETE /execute/kill?process_id=proc_1"]);
  });

  test("says which job could not be killed", async () => {
    const { failure } = await asked({
      "DELETE /execute/kill": (_, response) => json(response, 403, { error: "No", code: "FORBIDDEN" }),
    });
    expect(failure).toMatchObject({ name: "AbortError", cleanupError: { code: "FORBIDDEN" } });
  });

  test("is given up if no answer comes", async () => {
    const stopping = new AbortController();
    let isGone = false;
    const { agent } = await sandboxService({
      "POST /execute/background": (_, response) => {
        response.once("close", () => {
          isGone = true;
        });
        stopping.abort();
      },
    });
    const sandbox = await withSandbox(agent.url);
    const start = sandbox.executeBackground("1", { signal: stopping.signal });
    expect(await rejection(start)).toMatchObject({ name: "AbortError" });
    await expect.poll(() => isGone).toBe(true);
    expect(agent.calls()).toEqual(["POST /execute/background"]);
  });
});

test("code with an input is refused where the server would ignore it", async () => {
  const { agent } = await sandboxService();
  const sandbox = await withSandbox(agent.url, {}, { isolation: undefined });
  const failure = { name: "ConfigurationError", code: "STDIN_UNAVAILABLE" };
  expect(await rejection(sandbox.execute("input()", { stdin: "a" }))).toMatchObject(failure);
  expect(() => sandbox.executeStream("input()", { stdin: "a" })).toThrow(expect.objectContaining(failure));
  expect(agent.requests).toEqual([]);
});

describe("displayed values", () => {
  test("are taken, as far as it sends them, from a server without the operation for them", async () => {
    const { agent } = await sandboxService({
      "POST /execute/rich": (_, response) => json(response, 404, { detail: "Not Found" }),
      "POST /execute": (_, response) => json(response, 200, finished({ png: "aGk=", html: "<b>1</b>" })),
    });
    const sandbox = await withSandbox(agent.url);
    const { richOutputs } = await sandbox.execute("plot()");
    await sandbox.execute("plot()");
    expect(agent.calls()).toEqual(["POST /execute/rich", "POST /execute", "POST /execute"]);
    const [image, page] = richOutputs;
    expect(Buffer.from(image?.bytes() ?? []).toString()).toBe("hi");
    expect(Buffer.from(page?.bytes() ?? []).toString()).toBe("<b>1</b>");
    expect(page?.is("text/html") && page.data).toBe("<b>1</b>");
  });
});
