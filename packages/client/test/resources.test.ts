import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import type { FileContent, Sandbox, SandboxClient } from "../src/index.js";
import { carriers, rejection, testClient } from "./support/clients.js";
import { finished, sandboxService, wireSandbox } from "./support/sandbox-service.js";
import {
  type Handler,
  inTurn,
  json,
  type ScriptedServer,
  scriptedServer,
} from "./support/scripted-server.js";

const ok =
  (body: unknown): Handler =>
  (_, response) =>
    json(response, 200, body);

async function sandboxWith(
  overrides: Record<string, Handler>,
  options = {},
): Promise<{ sandbox: Sandbox; agent: ScriptedServer; client: SandboxClient; controlPlane: ScriptedServer }> {
  const { agent, controlPlane } = await sandboxService(overrides);
  const client = testClient(controlPlane.url, options);
  return { sandbox: await client.sandboxes.get("abc"), agent, client, controlPlane };
}

async function* pieces(...texts: string[]): AsyncGenerator<string> {
  yield* texts;
}

function lockedStream(): ReadableStream {
  const stream = new Blob(["text"]).stream();
  stream.getReader();
  return stream;
}

describe("an execution", () => {
  test("sends what was given, and nothing that was not", async () => {
    const { sandbox, agent } = await sandboxWith({});
    await sandbox.execute("1", { language: "bash", timeout: 5, env: { A: "1" }, workdir: "/tmp" });
    await sandbox.execute("2");
    expect(agent.requests.map(({ json }) => json)).toEqual([
      { code: "1", language: "bash", timeout: 5, env: { A: "1" }, workdir: "/tmp" },
      { code: "2", language: "python", timeout: 30 },
    ]);
  });

  test("gives its result in this client's names", async () => {
    const { sandbox } = await sandboxWith({
      "POST /execute": ok(
        finished({
          success: false,
          exit_code: 124,
          termination_reason: "timeout",
          language: "python",
          stdout_truncated: true,
          stdout_bytes: 5_000_000,
          stdout_file: "/tmp/out",
          result: "2.0",
          png: "iVBORw0KGgo=",
          svg: "<svg/>",
          html: "<b>1</b>",
          markdown: "# 1",
          json: { a: 1 },
        }),
      ),
    });
    expect(await sandbox.execute("1")).toEqual({
      success: false,
      cached: false,
      contextLost: false,
      stdout: "1\n",
      stderr: "",
      exitCode: 124,
      executionTime: 0.01,
      terminationReason: "timeout",
      output: {
        stdout: { truncated: true, bytes: 5_000_000, file: "/tmp/out" },
        stderr: { truncated: false, bytes: undefined, file: undefined },
      },
      language: "python",
      value: "2.0",
      richOutputs: [
        { type: "image/png", data: "iVBORw0KGgo=" },
        { type: "image/svg+xml", data: "<svg/>" },
        { type: "text/html", data: "<b>1</b>" },
        { type: "text/markdown", data: "# 1" },
        { type: "application/json", data: { a: 1 } },
      ],
    });
  });

  test("outlives its own limit by a margin, and the request's by far", async () => {
    const slow: Handler = (_, response) => setTimeout(() => json(response, 200, finished()), 400);
    const { sandbox } = await sandboxWith({ "POST /execute": slow }, { timeouts: { request: 0.1 } });
    expect((await sandbox.execute("1", { timeout: 1 })).stdout).toBe("1\n");
    expect((await sandbox.agent.POST("/execute", { body: { code: "1" } })).response.status).toBe(200);
  });

  test.each([0, 301, 1.5, Number.NaN, Number.POSITIVE_INFINITY])(
    "is refused a timeout of %d",
    async (timeout) => {
      const { sandbox, agent } = await sandboxWith({});
      expect(await rejection(sandbox.execute("1", { timeout }))).toMatchObject({ name: "ValidationError" });
      expect(await rejection(sandbox.commands.run("true", { timeout }))).toMatchObject({
        name: "ValidationError",
      });
      expect(agent.requests).toEqual([]);
    },
  );
});

describe("a command", () => {
  test.each([
    ["text is a line for bash", "echo $HOME | wc", { command: "bash", args: ["-c", "echo $HOME | wc"] }],
    ["an array is a program", ["echo", "$HOME", ""], { command: "echo", args: ["$HOME", ""] }],
  ])("%s", async (_, command, expected) => {
    const { sandbox, agent } = await sandboxWith({ "POST /commands/run": ok(finished({ pid: 7 })) });
    expect(await sandbox.commands.run(command)).toMatchObject({ stdout: "1\n", exitCode: 0, pid: 7 });
    expect(agent.requests[0]?.json).toEqual({ ...expected, timeout: 30 });
  });

  test.each(["", "  ", [], [""]])("%j is refused", async (command) => {
    const { sandbox, agent } = await sandboxWith({});
    expect(await rejection(sandbox.commands.run(command))).toMatchObject({ name: "ValidationError" });
    expect(agent.requests).toEqual([]);
  });
});

describe.each(carriers)("over %s, files", (_, carrier) => {
  const bytes = Uint8Array.from({ length: 100_000 }, (_, index) => (index * 7) % 256);

  test.each<[string, string | undefined, boolean]>([
    ["of known length", "application/octet-stream", true],
    ["of unknown length", "application/octet-stream", false],
    ["that a server takes for text", "text/plain; charset=utf-8", true],
    ["that a server takes for a page of unknown length", "text/html", false],
    ["of unknown type", undefined, false],
  ])("%s are read byte by byte", async (_, type, declared) => {
    const { sandbox, agent } = await sandboxWith(
      {
        "GET /files/download": (_, response) => {
          if (type !== undefined) response.setHeader("content-type", type);
          if (declared) response.setHeader("content-length", bytes.length);
          response.write(bytes.subarray(0, 1));
          response.end(bytes.subarray(1));
        },
      },
      carrier,
    );
    const read = await sandbox.files.readBytes("/workspace/a b&c.bin");
    expect(Buffer.from(read).equals(Buffer.from(bytes))).toBe(true);
    expect(agent.calls()).toEqual(["GET /files/download?path=%2Fworkspace%2Fa%20b%26c.bin"]);
  });

  test("that are empty are read as such", async () => {
    const { sandbox } = await sandboxWith(
      {
        "GET /files/download": (_, response) =>
          response.writeHead(200, { "content-type": "application/octet-stream", "content-length": 0 }).end(),
        "GET /files/read": ok({ content: "", path: "/workspace/empty", size: 0 }),
      },
      carrier,
    );
    expect(await sandbox.files.readBytes("empty")).toEqual(new Uint8Array(0));
    expect(await sandbox.files.readText("empty")).toBe("");
  });

  test.each<[string, Handler, object]>([
    [
      "falls silent",
      (_, response) => {
        response.writeHead(200, { "content-type": "application/octet-stream", "content-length": 10 });
        response.write("12345");
      },
      { name: "TimeoutError", kind: "idle" },
    ],
    [
      "breaks off",
      (_, response) => {
        response.writeHead(200, { "content-type": "application/octet-stream", "content-length": 10 });
        response.write("12345", () => response.destroy());
      },
      { name: "NetworkError" },
    ],
    [
      "is not there",
      (_, response) => json(response, 404, { error: "File not found", code: "FILE_NOT_FOUND" }),
      { name: "NotFoundError", code: "FILE_NOT_FOUND" },
    ],
  ])("whose content %s are an error", async (_, handler, expected) => {
    const options = { ...carrier, timeouts: { idle: 0.2 }, retry: false };
    const { sandbox } = await sandboxWith({ "GET /files/download": handler }, options);
    expect(await rejection(sandbox.files.readBytes("/workspace/a"))).toMatchObject(expected);
  });

  test("are not waited for beyond the caller's signal", async () => {
    const controller = new AbortController();
    const { sandbox } = await sandboxWith(
      {
        "GET /files/download": (_, response) => {
          response.writeHead(200, { "content-type": "application/octet-stream", "content-length": 10 });
          response.write("12345", () => controller.abort("enough"));
        },
      },
      carrier,
    );
    const { signal } = controller;
    const thrown = await rejection(sandbox.files.readBytes("/workspace/a", { signal }));
    expect(thrown).toMatchObject({ name: "AbortError", reason: "enough" });
  });

  test("may take longer than a request, as long as they come", async () => {
    const { sandbox } = await sandboxWith(
      {
        "GET /files/download": (_, response) => {
          response.writeHead(200, { "content-type": "application/octet-stream", "content-length": 5 });
          let sent = 0;
          const timer = setInterval(() => {
            response.write(String(sent++));
            if (sent === 5) clearInterval(timer);
          }, 100);
        },
      },
      { ...carrier, timeouts: { request: 0.3, idle: 0.3 } },
    );
    expect(new TextDecoder().decode(await sandbox.files.readBytes("a"))).toBe("01234");
  });

  test("of text are written as text", async () => {
    const { sandbox, agent } = await sandboxWith(
      { "POST /files/write": ok({ success: true, path: "/workspace/a", size: 6 }) },
      carrier,
    );
    const written = await sandbox.files.write("a", "grüße", { mode: "0600", overwrite: false });
    expect(written).toEqual({ path: "/workspace/a", size: 6 });
    expect(agent.requests[0]?.json).toEqual({ path: "a", content: "grüße", mode: "0600", overwrite: false });
  });

  test("of bytes with a mode are written as base64", async () => {
    const { sandbox, agent } = await sandboxWith({ "POST /files/write": ok({}) }, carrier);
    expect(await sandbox.files.write("a", bytes, { mode: "0755" })).toEqual({
      path: "a",
      size: bytes.length,
    });
    expect(agent.requests[0]?.json).toEqual({
      path: "a",
      content: Buffer.from(bytes).toString("base64"),
      encoding: "base64",
      mode: "0755",
    });
  });

  test.each<[string, string | Uint8Array | Blob]>([
    ["bytes", bytes],
    ["a blob", new Blob([bytes])],
    ["a long text", "x".repeat(300_000)],
  ])("of %s are uploaded, their destination first", async (_, content) => {
    const { sandbox, agent } = await sandboxWith({ "POST /files/upload": ok({}) }, carrier);
    const size = new Blob([content]).size;
    expect(await sandbox.files.write('/workspace/"a".bin', content)).toEqual({
      path: '/workspace/"a".bin',
      size,
    });
    const [request] = agent.requests;
    expect(request?.headers["content-type"]).toMatch(/^multipart\/form-data; boundary=/);
    expect(request?.text.indexOf('name="path"')).toBeGreaterThan(0);
    expect(request?.text.indexOf('name="path"')).toBeLessThan(request?.text.indexOf('name="file"') ?? 0);
  });

  test.each<[string, () => FileContent]>([
    ["Node.js", () => Readable.from([Buffer.from("grüß"), "e"])],
    ["the web", () => new Blob(["grüße"]).stream()],
    ["one's own making", () => pieces("grü", "ße")],
  ])("are written from a stream of %s", async (_, stream) => {
    const { sandbox, agent } = await sandboxWith(
      { "POST /files/upload": ok({}), "POST /files/write": ok({}) },
      carrier,
    );
    expect(await sandbox.files.write("a", stream())).toEqual({ path: "a", size: 7 });
    expect(agent.requests[0]?.text).toContain("\r\n\r\ngrüße\r\n");
    await sandbox.files.write("a", stream(), { mode: "0600" });
    expect(agent.requests[1]?.json).toMatchObject({
      content: Buffer.from("grüße").toString("base64"),
      encoding: "base64",
    });
  });

  test("are not written from a stream that fails, and its error is the call's", async () => {
    const { sandbox, agent } = await sandboxWith({}, carrier);
    const missing = createReadStream(new URL("no-such-file", import.meta.url));
    expect(await rejection(sandbox.files.write("a", missing))).toMatchObject({ code: "ENOENT" });
    expect(agent.requests).toEqual([]);
  });

  test("stop reading a stream when the signal fires", async () => {
    const { sandbox, agent } = await sandboxWith({}, carrier);
    let isCancelled = false;
    const cancel = (): void => {
      isCancelled = true;
    };
    const silent = new Readable({ read: () => undefined });
    for (const stream of [silent, new ReadableStream<Uint8Array>({ cancel })]) {
      const signal = AbortSignal.abort("enough");
      expect(await rejection(sandbox.files.write("a", stream, { signal }))).toMatchObject({
        name: "AbortError",
      });
    }
    expect({ destroyed: silent.destroyed, isCancelled }).toEqual({ destroyed: true, isCancelled: true });
    expect(agent.requests).toEqual([]);
  });

  test.each<[string, unknown]>([
    ["null", null],
    ["undefined", undefined],
    ["a number", 5],
    ["an object", { a: 1 }],
    ["a list", ["text"]],
    ["a stream of objects", Readable.from([{ a: 1 }])],
    ["a stream that another reads", lockedStream()],
  ])("are not written from %s", async (_, content) => {
    const { sandbox, agent } = await sandboxWith({}, carrier);
    const write = sandbox.files.write as (path: string, content: unknown) => Promise<unknown>;
    expect(await rejection(write.call(sandbox.files, "a", content))).toMatchObject({
      name: "ValidationError",
      message: expect.stringContaining("content "),
    });
    expect(agent.requests).toEqual([]);
  });

  test("are not written from a stream that has ended", async () => {
    const { sandbox } = await sandboxWith({ "POST /files/upload": ok({}) }, carrier);
    const stream = Readable.from(["once"]);
    await sandbox.files.write("a", stream);
    expect(await rejection(sandbox.files.write("a", stream))).toMatchObject({ name: "ValidationError" });
  });

  test("are uploaded unchanged, also by the low-level client", async () => {
    const { sandbox, agent } = await sandboxWith({ "POST /files/upload": ok({}) }, carrier);
    await sandbox.files.write("/workspace/b", bytes);
    await sandbox.agent.POST("/files/upload", { body: { file: new Blob(["low"]), path: "/tmp/low" } });
    const received = agent.requests.map(async ({ body, headers }) => {
      const form = await new Response(body, {
        headers: { "content-type": `${headers["content-type"]}` },
      }).formData();
      const file = form.get("file") as File;
      return [form.get("path"), Buffer.from(await file.arrayBuffer()).toString("base64")];
    });
    expect(await Promise.all(received)).toEqual([
      ["/workspace/b", Buffer.from(bytes).toString("base64")],
      ["/tmp/low", Buffer.from("low").toString("base64")],
    ]);
  });

  test("are listed in either spelling, without what is null", async () => {
    const modified = "2026-11-01T10:00:00Z";
    const { sandbox, agent } = await sandboxWith(
      {
        "GET /files/list": inTurn(
          ok({
            path: "/workspace",
            files: [
              {
                name: "a",
                path: "/workspace/a",
                size: 3,
                is_directory: false,
                modified_time: modified,
                mode: "0644",
              },
              null,
              { name: "b", path: "/workspace/b", size: 0, is_dir: true, modified, permissions: "drwxr-xr-x" },
            ],
            total: 20,
            truncated: true,
          }),
          ok({ files: null }),
        ),
      },
      carrier,
    );
    const modifiedAt = new Date(modified);
    expect(await sandbox.files.list()).toEqual({
      path: "/workspace",
      entries: [
        {
          name: "a",
          path: "/workspace/a",
          size: 3,
          isDirectory: false,
          isSymlink: false,
          modifiedAt,
          permissions: "0644",
        },
        {
          name: "b",
          path: "/workspace/b",
          size: 0,
          isDirectory: true,
          isSymlink: false,
          modifiedAt,
          permissions: "drwxr-xr-x",
        },
      ],
      total: 20,
      truncated: true,
    });
    expect(await sandbox.files.list("/tmp")).toEqual({
      path: "/tmp",
      entries: [],
      total: 0,
      truncated: false,
    });
    expect(agent.calls()).toEqual(["GET /files/list?path=%2Fworkspace", "GET /files/list?path=%2Ftmp"]);
  });

  test("are looked for, made and removed", async () => {
    const { sandbox, agent } = await sandboxWith(
      {
        "GET /files/exists": ok({ exists: false, path: "/a" }),
        "POST /files/mkdir": ok({}),
        "DELETE /files/remove": (_, response) => response.writeHead(204).end(),
      },
      carrier,
    );
    expect(await sandbox.files.exists("/a")).toBe(false);
    await sandbox.files.mkdir("/a");
    await sandbox.files.remove("/a");
    expect(agent.calls()).toEqual([
      "GET /files/exists?path=%2Fa",
      "POST /files/mkdir",
      "DELETE /files/remove?path=%2Fa",
    ]);
  });
});

describe("environment variables", () => {
  test("are shown, replaced, merged, deleted and cleared, also by a server that answers without a body", async () => {
    const empty: Handler = (_, response) => response.writeHead(204).end();
    const { sandbox, agent } = await sandboxWith({
      "GET /env": ok({ env_vars: { A: "1", API_KEY: "***MASKED***" } }),
      "PUT /env": empty,
      "PATCH /env": empty,
      "DELETE /env": empty,
      "DELETE /env/A": empty,
    });
    expect(await sandbox.env.get()).toEqual({ A: "1", API_KEY: "***MASKED***" });
    await sandbox.env.replace({ B: "2" });
    await sandbox.env.merge({ C: "3" });
    await sandbox.env.unset("A");
    await sandbox.env.clear();
    expect(agent.calls()).toEqual(["GET /env", "PUT /env", "PATCH /env", "DELETE /env/A", "DELETE /env"]);
    expect(agent.requests[1]?.json).toEqual({ env_vars: { B: "2" } });
    expect(agent.requests[2]?.json).toEqual({ env_vars: { C: "3" }, merge: true });
  });

  test.each<[string, (sandbox: Sandbox) => Promise<void>]>([
    ["a mask set", (sandbox) => sandbox.env.replace({ API_KEY: "***MASKED***" })],
    ["a mask merged", (sandbox) => sandbox.env.merge({ API_KEY: "***MASKED***" })],
    ["no name deleted", (sandbox) => sandbox.env.unset("")],
    ["a path deleted", (sandbox) => sandbox.env.unset("..")],
  ])("%s is refused before anything is sent", async (_, call) => {
    const { sandbox, agent } = await sandboxWith({});
    expect(await rejection(call(sandbox))).toMatchObject({ name: "ValidationError" });
    expect(agent.requests).toEqual([]);
  });
});

describe("what an agent reports", () => {
  test("is given in this client's names", async () => {
    const { sandbox } = await sandboxWith({
      "GET /health": ok({
        status: "healthy",
        version: "1.0",
        features: { languages: ["python"] },
        active_executions: 1,
      }),
      "GET /info": ok({
        agent_version: "1.0",
        os: "linux",
        arch: "x64",
        start_time: "2026-11-01T10:00:00Z",
        limits: { memory_mb: 512, max_processes: 64 },
      }),
      "GET /metrics/snapshot": ok({
        uptime_seconds: 5,
        total_executions: 2,
        system: { cpu: { usage_percent: 3 }, memory: { usage_percent: 4, used_mb: 5, total_mb: 6 } },
        process: { count: 7 },
      }),
      "GET /processes": ok({
        processes: [{ pid: 1, ppid: 0, name: "init", cpu_percent: 0.5, memory_mb: 3 }],
      }),
    });
    expect(await sandbox.system.health()).toEqual({
      healthy: true,
      status: "healthy",
      version: "1.0",
      languages: ["python"],
      activeExecutions: 1,
    });
    expect(await sandbox.system.info()).toMatchObject({
      version: "1.0",
      platform: "linux/x64",
      startedAt: new Date("2026-11-01T10:00:00Z"),
      limits: { memoryMb: 512, diskMb: undefined, maxProcesses: 64 },
    });
    expect(await sandbox.metrics.snapshot()).toMatchObject({
      uptimeSeconds: 5,
      totalExecutions: 2,
      cpuPercent: 3,
      memory: { percent: 4, usedMb: 5, totalMb: 6 },
      disk: { percent: undefined },
      processCount: 7,
    });
    expect(await sandbox.system.processes()).toMatchObject([
      { pid: 1, parentPid: 0, name: "init", cpuPercent: 0.5 },
    ]);
  });
});

describe("a sandbox", () => {
  test("is shown by its facts, and no token with them", async () => {
    const { sandbox, controlPlane } = await sandboxWith({});
    for (const shown of [inspect(sandbox), inspect({ in: [sandbox] }, { depth: 5 })]) {
      expect(shown).toMatch(/Sandbox \{\s+id: 'abc',\s+status: 'running'/);
      expect(shown).not.toContain("eyJ");
    }
    expect(controlPlane.requests).toHaveLength(1);
  });

  test("refuses what is no program and no signal before it sends anything", async () => {
    const { sandbox, agent, client, controlPlane } = await sandboxWith({});
    const noSignal = { signal: {} as AbortSignal };
    const refused: [string, Promise<unknown>][] = [
      ["code must be text", Reflect.apply(sandbox.execute, sandbox, [5])],
      ["signal must be", sandbox.execute("1", noSignal)],
      ["signal must be", sandbox.files.readText("a", noSignal)],
      ["signal must be", sandbox.refreshToken(noSignal)],
      ["signal must be", client.sandboxes.create(noSignal)],
    ];
    for (const [message, call] of refused) {
      expect(await rejection(call)).toMatchObject({
        name: "ValidationError",
        message: expect.stringContaining(message),
      });
    }
    expect(agent.requests).toEqual([]);
    expect(controlPlane.requests).toHaveLength(1);
  });

  test("moves its deadline, pauses and resumes, and knows of it", async () => {
    const expiresAt = "2027-01-01T00:00:00.000Z";
    const { sandbox, controlPlane } = await sandboxWith({
      "PUT /v1/sandboxes/abc/timeout": ok({ id: "abc", timeout_seconds: 60, expires_at: expiresAt }),
      "POST /v1/sandboxes/abc/pause": ok({ id: "abc", status: "paused" }),
      "POST /v1/sandboxes/abc/resume": ok({ id: "abc", status: "running" }),
    });
    await sandbox.setTimeout(60);
    expect(sandbox.expiresAt?.toISOString()).toBe(expiresAt);
    await sandbox.pause();
    expect(sandbox.status).toBe("paused");
    await sandbox.resume();
    expect(sandbox.status).toBe("running");
    expect(controlPlane.requests[1]?.json).toEqual({ timeout_seconds: 60 });
  });

  test("is changed also by a server that answers without a body", async () => {
    const empty: Handler = (_, response) => response.writeHead(204).end();
    const { sandbox } = await sandboxWith({
      "PUT /v1/sandboxes/abc/timeout": empty,
      "POST /v1/sandboxes/abc/pause": empty,
      "POST /v1/sandboxes/abc/resume": empty,
    });
    await sandbox.setTimeout(60);
    const remaining = (sandbox.expiresAt?.getTime() ?? 0) - Date.now();
    expect(Math.abs(remaining - 60_000)).toBeLessThan(5000);
    await sandbox.pause();
    expect(sandbox.status).toBe("paused");
    await sandbox.resume();
    expect(sandbox.status).toBe("running");
  });

  test.each<[string, Handler]>([
    ["200", ok({ id: "abc" })],
    ["204", (_, response) => response.writeHead(204).end()],
    ["404 of the service", (_, response) => json(response, 404, { error: "Sandbox abc not found" })],
    ["410", (_, response) => json(response, 410, { error: "expired", code: "SANDBOX_EXPIRED" })],
  ])("is deleted when the answer is %s, and at the end of its scope", async (_, handler) => {
    const { client, controlPlane } = await sandboxWith({ "DELETE /v1/sandboxes/abc": handler });
    {
      await using sandbox = await client.sandboxes.get("abc");
      expect(sandbox.status).toBe("running");
    }
    expect(controlPlane.calls().at(-1)).toBe("DELETE /v1/sandboxes/abc");
  });

  test("is not taken for deleted when a proxy knows nothing of the service", async () => {
    const { client } = await sandboxWith({
      "DELETE /v1/sandboxes/abc": (_, response) =>
        response.writeHead(404, { "content-type": "text/html" }).end("<title>404 Not Found</title>"),
    });
    expect(await rejection(client.sandboxes.delete("abc"))).toMatchObject({ name: "NotFoundError" });
  });

  test.each([
    ["running", ["GET"], "running"],
    ["paused", ["GET", "POST"], "running"],
  ])("that is %s is connected to", async (status, methods, expected) => {
    const { controlPlane } = await sandboxService({
      "GET /v1/sandboxes/abc": ok(wireSandbox("http://127.0.0.1:9", { status })),
      "POST /v1/sandboxes/abc/resume": ok({ id: "abc", status: "running" }),
    });
    const sandbox = await testClient(controlPlane.url).sandboxes.connect("abc");
    expect(sandbox.status).toBe(expected);
    expect(controlPlane.requests.map(({ method }) => method)).toEqual(methods);
  });

  test.each(["stopped", "error", "creating"])("that is %s is not connected to", async (status) => {
    const { controlPlane } = await sandboxService({ "GET /v1/sandboxes/abc": ok({ id: "abc", status }) });
    const thrown = await rejection(testClient(controlPlane.url).sandboxes.connect("abc"));
    expect(thrown).toMatchObject({ name: "ConflictError", code: "SANDBOX_NOT_RUNNING" });
  });

  test("without an address says so when it is used", async () => {
    const { controlPlane } = await sandboxService({
      "GET /v1/sandboxes/abc": ok({ id: "abc", status: "creating" }),
    });
    const sandbox = await testClient(controlPlane.url).sandboxes.get("abc");
    expect(await rejection(sandbox.execute("1"))).toMatchObject({ code: "SANDBOX_NOT_READY" });
  });

  test.each(["", " ", ".", ".."])("is not asked for by the id %j", async (id) => {
    const { controlPlane } = await sandboxService();
    const client = testClient(controlPlane.url);
    for (const call of [client.sandboxes.get(id), client.sandboxes.delete(id), client.templates.get(id)]) {
      expect(await rejection(call)).toMatchObject({ name: "ValidationError" });
    }
    expect(controlPlane.requests).toEqual([]);
  });

  test("with slashes in its id is one segment of a path", async () => {
    const { controlPlane } = await sandboxService();
    await rejection(testClient(controlPlane.url).sandboxes.get("a/../b?c#d"));
    expect(controlPlane.calls()).toEqual(["GET /v1/sandboxes/a%2F..%2Fb%3Fc%23d"]);
  });
});

describe("a list", () => {
  const page = (ids: string[], more: Record<string, unknown> = {}): Handler =>
    ok({ object: "list", data: ids.map((id) => ({ id, status: "running" })), ...more });

  async function listed(handler: Handler): Promise<{ ids: string[]; calls: string[] }> {
    const server = await scriptedServer(handler);
    const ids: string[] = [];
    for await (const { id } of testClient(server.url).sandboxes.list({ status: "running", limit: 2 }))
      ids.push(id);
    return { ids, calls: server.calls() };
  }

  test("is fetched a page at a time, with its filters", async () => {
    const { ids, calls } = await listed(
      inTurn(page(["a", "b"], { has_more: true, next_cursor: "2&" }), page(["c"], { has_more: false })),
    );
    expect(ids).toEqual(["a", "b", "c"]);
    expect(calls).toEqual([
      "GET /v1/sandboxes?status=running&limit=2",
      "GET /v1/sandboxes?status=running&limit=2&cursor=2%26",
    ]);
  });

  test.each<[string, Handler, string[]]>([
    ["null for none", ok({ data: null, has_more: false }), []],
    ["more without a cursor", page(["a"], { has_more: true }), ["a"]],
    ["more with an empty cursor", page(["a"], { has_more: true, next_cursor: "" }), ["a"]],
    ["more with a null cursor", page(["a"], { has_more: true, next_cursor: null }), ["a"]],
    ["a cursor without more", page(["a"], { has_more: false, next_cursor: "x" }), ["a"]],
    ["nothing but items", page(["a"]), ["a"]],
  ])("ends after one page that holds %s", async (_, handler, expected) => {
    const { ids, calls } = await listed(handler);
    expect(ids).toEqual(expected);
    expect(calls).toHaveLength(1);
  });

  test("with a cursor that comes again is an error, not a loop", async () => {
    const server = await scriptedServer(page(["a"], { has_more: true, next_cursor: "again" }));
    const ids: string[] = [];
    const reading = (async () => {
      for await (const { id } of testClient(server.url).sandboxes.list()) ids.push(id);
    })();
    expect(await rejection(reading)).toMatchObject({ code: "CURSOR_REPEATED" });
    expect(ids).toEqual(["a", "a"]);
  });

  test("that is left early is not fetched further", async () => {
    const server = await scriptedServer(page(["a", "b"], { has_more: true, next_cursor: "2" }));
    for await (const { id } of testClient(server.url).sandboxes.list()) {
      expect(id).toBe("a");
      break;
    }
    expect(server.requests).toHaveLength(1);
  });

  test("of templates says what each can do", async () => {
    const wire = {
      id: "20",
      name: "code-interpreter",
      default_resources: { vcpu: 2, memory_mb: 512, disk_gb: 5 },
    };
    const server = await scriptedServer(
      inTurn(ok({ data: [wire] }), ok({ ...wire, features: ["python"], is_active: true })),
    );
    const { templates } = testClient(server.url);
    const found = [];
    for await (const template of templates.list({ language: "python" })) found.push(template);
    expect(found).toMatchObject([
      { id: "20", name: "code-interpreter", resources: { vcpu: 2, memoryMb: 512, diskGb: 5 }, features: [] },
    ]);
    expect(await templates.get("code-interpreter")).toMatchObject({ features: ["python"], isActive: true });
    expect(server.calls()).toEqual([
      "GET /v1/templates?language=python",
      "GET /v1/templates/code-interpreter",
    ]);
  });
});
