import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Sandbox, SandboxClientOptions } from "../../src/index.js";
import { carriers, rejection, testClient } from "../support/clients.js";
import { frameServer } from "../support/frame-server.js";
import { sandboxWith } from "../support/sandbox-of-service.js";
import { finished, sandboxService, tokenFor, wireSandbox } from "../support/sandbox-service.js";
import { type Handler, json, scriptedServer } from "../support/scripted-server.js";

/** A handler that waits for `release()` before it answers. */
function held(handler: Handler): { handler: Handler; isAsked(): boolean; release(): void } {
  const waiting: (() => void)[] = [];
  let isReleased = false;
  return {
    handler: (request, response) => {
      if (isReleased) handler(request, response);
      else waiting.push(() => handler(request, response));
    },
    isAsked: () => waiting.length > 0,
    release: () => {
      isReleased = true;
      for (const answer of waiting) answer();
    },
  };
}

const closed = { name: "SandboxError", code: "CLIENT_CLOSED" };

describe.each(carriers)("closing a client over %s waits for", (_, carrier) => {
  test("a call under way", async () => {
    const program = held((_, response) => json(response, 200, finished()));
    const { client, sandbox } = await sandboxWith({ "POST /execute/rich": program.handler }, carrier);
    let isClosed = false;
    const pending = sandbox.execute("1");
    const closing = client.close().then(() => {
      isClosed = true;
    });
    await expect.poll(program.isAsked).toBe(true);
    expect(isClosed).toBe(false);
    program.release();
    expect(await pending).toMatchObject({ stdout: "1\n" });
    await closing;
    expect(await rejection(sandbox.execute("1"))).toMatchObject(closed);
  });

  test("a call that needs a token first, and gets it", async () => {
    const token = held((_, response) => json(response, 200, { auth_token: tokenFor("abc") }));
    const { client, sandbox } = await sandboxWith(
      { "POST /v1/sandboxes/abc/token/refresh": token.handler },
      carrier,
      { auth_token: undefined },
    );
    const pending = sandbox.execute("1");
    const closing = client.close();
    await expect.poll(token.isAsked).toBe(true);
    token.release();
    expect(await pending).toMatchObject({ stdout: "1\n" });
    await closing;
  });

  test("calls under way, but not for those of a caller that goes on calling", async () => {
    const { controlPlane } = await sandboxService();
    const client = testClient(controlPlane.url, carrier);
    const goOn = async (call: () => Promise<unknown>): Promise<unknown> => {
      for (;;) {
        const failure = await call().then(
          () => undefined,
          (error: unknown) => error,
        );
        if (failure !== undefined) return failure;
      }
    };
    const workers = [1, 2].flatMap(() => [
      goOn(() => client.sandboxes.create({ template: "base" })),
      goOn(() => client.executeIsolated("1")),
    ]);
    await expect.poll(() => controlPlane.requests.length).toBeGreaterThan(8);
    await client.close();
    for (const refused of await Promise.all(workers)) expect(refused).toMatchObject(closed);
  });

  test("an isolated execution, whose sandbox is deleted", async () => {
    const program = held((_, response) => json(response, 200, finished()));
    const { controlPlane } = await sandboxService({ "POST /execute/rich": program.handler });
    const client = testClient(controlPlane.url, carrier);
    const pending = client.executeIsolated("1");
    await expect.poll(program.isAsked).toBe(true);
    const closing = client.close();
    program.release();
    expect(await pending).toMatchObject({ stdout: "1\n", cleanupError: undefined });
    await closing;
    expect(controlPlane.calls()).toEqual([
      "POST /v1/executions",
      "POST /v1/sandboxes",
      "DELETE /v1/sandboxes/abc",
    ]);
  });

  test("the creation of a sandbox, which is deleted if that fails", async () => {
    const probe = held((_, response) => json(response, 403, { error: "no" }));
    const { controlPlane } = await sandboxService(
      { "GET /files/exists": probe.handler },
      { isolation: undefined },
    );
    const client = testClient(controlPlane.url, carrier);
    const pending = rejection(client.sandboxes.create());
    await expect.poll(probe.isAsked).toBe(true);
    const closing = client.close();
    probe.release();
    expect(await pending).toMatchObject({ status: 403 });
    await closing;
    expect(controlPlane.calls()).toEqual(["POST /v1/sandboxes", "DELETE /v1/sandboxes/abc"]);
  });

  test("a program that may continue in the background", async () => {
    const end = { status: "completed", exit_code: 0, stdout: "", stderr: "", complete: true };
    const output = held((_, response) => json(response, 200, end));
    const { client, sandbox } = await sandboxWith(
      {
        "POST /execute/background": (_, response) => json(response, 200, { process_id: "proc_1" }),
        "GET /execute/processes/proc_1/output": output.handler,
      },
      carrier,
    );
    const pending = sandbox.execute("1", { timeoutSeconds: 60, detachAfterSeconds: 45 });
    await expect.poll(output.isAsked).toBe(true);
    const closing = client.close();
    output.release();
    expect(await pending).toMatchObject({ exitCode: 0 });
    await closing;
  });

  test("the download of a file", async () => {
    const directory = await mkdtemp(join(tmpdir(), "closing-"));
    onTestFinished(() => rm(directory, { recursive: true }));
    const large = Buffer.alloc(6_000_000, "x");
    const { client, sandbox, agent } = await sandboxWith(
      { "GET /files/download": (_, response) => response.end(large) },
      carrier,
    );
    const target = join(directory, "file");
    const pending = [sandbox.files.download("f", target), sandbox.files.readBytes("f")];
    await expect.poll(() => agent.requests.length).toBeGreaterThan(1);
    await client.close();
    await Promise.all(pending);
    expect((await readFile(target)).equals(large)).toBe(true);
  });

  test("the upload of a directory", async () => {
    const directory = await mkdtemp(join(tmpdir(), "closing-"));
    onTestFinished(() => rm(directory, { recursive: true }));
    await writeFile(join(directory, "file"), "content");
    const upload = held((_, response) => json(response, 200, { success: true }));
    const ran: Handler = (_, response) => json(response, 200, { exit_code: 0, stdout: "", stderr: "" });
    const { client, sandbox, agent } = await sandboxWith(
      { "POST /files/upload": upload.handler, "POST /commands/run": ran },
      carrier,
    );
    const pending = sandbox.files.uploadDirectory(directory, "d");
    await expect.poll(upload.isAsked).toBe(true);
    const closing = client.close();
    upload.release();
    await pending;
    await closing;
    expect(agent.calls().map((call) => call.split("?")[0])).toEqual([
      "POST /files/upload",
      "POST /commands/run",
      "POST /commands/run",
    ]);
  });
});

describe.each(carriers)("closing a client over %s ends", (_, carrier) => {
  test("streams, whether they are read or not", async () => {
    const open = new Set<object>();
    const endless: Handler = (_, response) => {
      open.add(response.on("close", () => open.delete(response)));
      response.writeHead(200, { "content-type": "text/event-stream" }).write("data: {}\n\n");
    };
    const { client, sandbox } = await sandboxWith(
      { "GET /v1/sandboxes/abc/metrics/stream": endless, "GET /files/download": endless },
      carrier,
    );
    const metrics = sandbox.metrics.stream();
    expect((await metrics.next()).done).toBe(false);
    const next = rejection(metrics.next());
    const params = { query: { path: "f" } };
    const { data } = await sandbox.agent.GET("/files/download", { params, parseAs: "stream" });
    expect(open.size).toBe(2);
    await client.close();
    expect(await next).toMatchObject(closed);
    await expect.poll(() => open.size).toBe(0);
    expect(data?.locked).toBe(false);
  });
});

describe.each(carriers)("closing a client over %s, with a time limit, waits no longer", (_, carrier) => {
  test("and stops a call that is still under way", async () => {
    const { client, sandbox, agent } = await sandboxWith({ "POST /execute/rich": () => undefined }, carrier);
    const pending = rejection(sandbox.execute("1"));
    await expect.poll(() => agent.requests.length).toBe(1);
    await client.close({ timeoutSeconds: 0.1 });
    expect(await pending).toMatchObject(closed);
  });

  test("and deletes the sandbox of an isolated execution that is still under way", async () => {
    const { agent, controlPlane } = await sandboxService({ "POST /execute/rich": () => undefined });
    const client = testClient(controlPlane.url, carrier);
    const pending = rejection(client.executeIsolated("1"));
    await expect.poll(() => agent.requests.length).toBe(1);
    await client.close({ timeoutSeconds: 0 });
    expect(await pending).toMatchObject(closed);
    expect(controlPlane.calls()).toEqual([
      "POST /v1/executions",
      "POST /v1/sandboxes",
      "DELETE /v1/sandboxes/abc",
    ]);
  });

  test("for a sandbox that does not get ready, and deletes it", async () => {
    const creating = { id: "abc", status: "creating" };
    const { controlPlane } = await sandboxService({
      "POST /v1/sandboxes": (_, response) => json(response, 201, creating),
      "GET /v1/sandboxes/abc": (_, response) => json(response, 200, creating),
    });
    const client = testClient(controlPlane.url, carrier);
    const pending = rejection(client.sandboxes.create());
    await expect.poll(() => controlPlane.requests.length).toBeGreaterThan(2);
    await client.close({ timeoutSeconds: 0 });
    expect(await pending).toMatchObject(closed);
    expect(controlPlane.calls().at(-1)).toBe("DELETE /v1/sandboxes/abc");
  });

  test.each([-1, Number.NaN])("refuses to wait for %d s", async (timeout) => {
    const { client } = await sandboxWith({}, carrier);
    expect(await rejection(client.close({ timeoutSeconds: timeout }))).toMatchObject({
      name: "ValidationError",
    });
  });
});

describe("closing a client does not wait for a connection that is being opened", () => {
  /** A server that accepts connections and never answers. */
  async function silentServer(): Promise<{ url: string; connections: Set<Socket> }> {
    const connections = new Set<Socket>();
    const server = createServer((socket) => {
      connections.add(socket.on("error", () => undefined).resume());
      socket.once("close", () => connections.delete(socket));
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    onTestFinished(() => void server.close());
    return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, connections };
  }

  const calls: [string, (sandbox: Sandbox) => Promise<unknown>][] = [
    ["a call that was given up", (sandbox) => sandbox.execute("1", { requestTimeoutSeconds: 0.5 })],
    ["a stream", (sandbox) => sandbox.executeStream("1").result()],
  ];
  test.each(calls)("for %s", async (name, call) => {
    const { connections, url } = await silentServer();
    const server = await scriptedServer((_, response) => json(response, 200, wireSandbox(url)));
    const client = testClient(server.url, { retry: false });
    const pending = rejection(call(await client.sandboxes.get("abc")));
    await expect.poll(() => connections.size).toBe(1);
    if (name !== "a stream") await pending;
    const began = performance.now();
    await client.close();
    await expect.poll(() => connections.size).toBe(0);
    // Without `close()`, undici gives up a connection that is being made after ten seconds.
    expect(performance.now() - began).toBeLessThan(8000);
    await pending;
  });
});

describe("closing a client ends a stream that is being opened over", () => {
  const carried: [string, () => Promise<SandboxClientOptions>][] = [
    ["its own WebSocket", async () => ({})],
    [
      "one that is brought along",
      async () => {
        const { WebSocket } = await import("undici");
        return { webSocket: (url, { headers }) => new WebSocket(url, { headers }) };
      },
    ],
  ];
  const streams: [string, (sandbox: Sandbox) => Promise<unknown>][] = [
    ["a terminal", (sandbox) => sandbox.terminal.open()],
    ["a watch", (sandbox) => sandbox.files.watch("/workspace").ready()],
    ["a program", (sandbox) => sandbox.executeStream("1").result()],
  ];
  test.each(
    carried.flatMap(([way, options]) => streams.map(([what, open]) => [way, what, options, open] as const)),
  )("%s: %s", async (_way, _what, options, open) => {
    const connections: Duplex[] = [];
    const server = await frameServer(
      () => undefined,
      (_, connection) => connections.push(connection.resume()) > 0,
    );
    const client = testClient(server.url, await options());
    const pending = rejection(open(await client.sandboxes.get("abc")));
    await expect.poll(() => connections.length).toBe(1);
    await client.close();
    expect(await pending).toMatchObject(closed);
    await expect.poll(() => connections[0]?.readableEnded).toBe(true);
  });
});
