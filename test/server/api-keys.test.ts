import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ControlPlaneCaller, type CreatedSandbox } from "../support/control-plane-caller.js";
import { FrameSocket } from "../support/frame-socket.js";
import { type LocalServer, startLocalServer } from "../support/local-server.js";

let directory: string;
let server: LocalServer;
let owner: ControlPlaneCaller;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "api-keys-"));
  await start();
});
afterAll(async () => {
  await server?.stop();
  await rm(directory, { recursive: true, force: true });
});

async function start(): Promise<void> {
  server = await startLocalServer({ args: ["--pool", "1", "--data-dir", directory] });
  owner = new ControlPlaneCaller(server);
}

/** Creates a key. Resolves with a caller that uses it. */
async function caller(name: string, limits: object = {}): Promise<ControlPlaneCaller & { apiKey: string }> {
  const { status, body } = await owner.call("POST", "/keys", { name, ...limits });
  expect({ status, name: body.name }).toEqual({ status: 201, name });
  const apiKey = String(body.key);
  return Object.assign(new ControlPlaneCaller({ url: server.url, apiKey }), { apiKey });
}

const steps = [{ type: "RUN", args: ["true"] }];
const build = { name: "mine", from_image: "base", steps, cpu: 1, memory: 512, diskGB: 1 };
const program = { code: "print(1)", language: "python" };
/** Takes more memory of the kernel than a sandbox may. */
const unreadReplies = `
import socket, struct, time
request = struct.pack("=IHHII", 32, 18, 1, 1, 0) + struct.pack("=BxHiII", 0, 0, 1, 0, 0)
held = [socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) for _ in range(200)]
for one in held:
    one.setblocking(False)
    for _ in range(100): one.send(request)
time.sleep(60)`;
const ids = async (api: ControlPlaneCaller): Promise<unknown[]> => {
  const { body } = await api.call<{ data: { id: string }[] }>("GET", "/sandboxes");
  return body.data.map(({ id }) => id);
};
const keyNamed = async (name: string): Promise<unknown> => {
  const { body } = await owner.call<{ data: { name: string }[] }>("GET", "/keys?revoked=true");
  return body.data.find((key) => key.name === name);
};

describe("an API key", () => {
  test("sees its own sandboxes alone; the server's own key sees all", async () => {
    const [a, b] = [await caller("sees-a"), await caller("sees-b")];
    const mine = await a.create({ name: "same", metadata: { of: "a" } });
    const theirs = await b.create({ name: "same" });
    const own = await owner.create({ name: "same" });
    expect(await ids(a)).toEqual([mine.id]);
    expect(await ids(b)).toEqual([theirs.id]);
    expect(await ids(owner)).toEqual(expect.arrayContaining([mine.id, theirs.id, own.id]));

    for (const [method, path, body] of operationsOn(theirs)) {
      const refusal = await a.told(method, path, body);
      expect({ method, path, refusal }).toEqual({ method, path, refusal: "404 SANDBOX_NOT_FOUND" });
    }
    expect(await b.told("GET", `/sandboxes/${theirs.id}`)).toBe("200 running");
    expect(await b.told("POST", "/sandboxes", { template_name: "base", name: "same" })).toBe("409 CONFLICT");
    expect(await b.told("DELETE", `/sandboxes/${theirs.id}`)).toBe("200 deleted");
    expect(await a.call("GET", `/sandboxes/${theirs.id}`)).toMatchObject({
      body: { message: expect.not.stringContaining("deleted") },
    });
    expect(await b.call("GET", `/sandboxes/${theirs.id}`)).toMatchObject({
      body: { message: expect.stringContaining("deleted") },
    });
    expect(await owner.told("DELETE", `/sandboxes/${mine.id}`)).toBe("200 deleted");
    await owner.call("DELETE", `/sandboxes/${own.id}`);
  });

  test("has idempotency keys of its own, for sandboxes and programs", async () => {
    const [a, b] = [await caller("repeats-a"), await caller("repeats-b")];
    const once = { "Idempotency-Key": "once" };
    const create = (api: ControlPlaneCaller) =>
      api.call("POST", "/sandboxes", { template_name: "base" }, once).then(({ body }) => body.id);
    const [first, again, other] = [await create(a), await create(a), await create(b)];
    expect(again).toBe(first);
    expect(other).not.toBe(first);
    const run = (api: ControlPlaneCaller) =>
      api.call("POST", "/executions", program, once).then(({ body }) => body.id);
    const [ran, repeated, others] = [await run(a), await run(a), await run(b)];
    expect(repeated).toBe(ran);
    expect(others).not.toBe(ran);
    for (const id of [first, other]) await owner.call("DELETE", `/sandboxes/${id}`);
  });

  test("manages no keys and changes no templates", async () => {
    const a = await caller("manages-nothing");
    for (const [method, path, body] of [
      ["GET", "/keys", undefined],
      ["POST", "/keys", { name: "mine" }],
      ["DELETE", "/keys/manages-nothing", undefined],
      ["DELETE", "/templates/base", undefined],
      ["POST", "/templates/build", build],
      ["POST", "/templates/files/upload-link", { files_hash: "a".repeat(64), content_length: 1 }],
    ] as const)
      expect([path, await a.told(method, path, body)]).toEqual([path, "403 FORBIDDEN"]);
    expect(await a.told("GET", "/templates/base")).toMatch(/^200/);
  });

  test("has at most its number of sandboxes and programs, whatever other keys have", async () => {
    const [a, b] = [await caller("limited", { max_sandboxes: 1 }), await caller("unlimited")];
    expect((await a.call("POST", "/executions", program)).body.stdout).toBe("1\n");
    const { id } = await a.create();
    const refused = await a.call("POST", "/sandboxes", { template_name: "base" });
    expect(refused).toMatchObject({ status: 429, body: { code: "RESOURCE_LIMIT_ERROR" } });
    const waiting = a.call("POST", "/executions", program);
    await expect.poll(() => keyNamed("limited")).toMatchObject({ sandboxes: 1, programs: 1 });
    expect((await b.call("POST", "/executions", program)).body.stdout).toBe("1\n");
    await a.call("DELETE", `/sandboxes/${id}`);
    expect((await waiting).body.stdout).toBe("1\n");
    expect(await keyNamed("limited")).toMatchObject({
      ...{ status: "active", sandboxes: 0, programs: 0, max_sandboxes: 1 },
      last_used_at: expect.any(String),
    });
  });

  test("is refused from the moment it is revoked, and so are the tokens that it was given", async () => {
    const a = await caller("revoked");
    const sandbox = await a.create();
    expect((await a.run(sandbox, "echo in")).body.stdout).toBe("in\n");
    expect(await owner.told("DELETE", "/keys/revoked")).toBe("200 revoked");

    const refused = { status: 401, body: { code: "API_KEY_REVOKED", hint: expect.any(String) } };
    expect(await a.call("GET", "/sandboxes")).toMatchObject(refused);
    expect(await a.call("POST", "/executions", program)).toMatchObject(refused);
    expect(await a.run(sandbox, "echo in")).toMatchObject(refused);
    const byToken = await fetch(`${server.url}/env`, {
      headers: { authorization: `Bearer ${sandbox.auth_token}` },
    });
    expect(byToken.status).toBe(401);
    await byToken.body?.cancel();
    await expect(FrameSocket.open(`${sandbox.public_host}/stream`, sandbox.auth_token)).rejects.toThrow();

    // The server's own key still reaches the sandbox.
    const { body } = await owner.call("POST", `/sandboxes/${sandbox.id}/token/refresh`);
    const reached = await owner.run({ ...sandbox, auth_token: String(body.auth_token) }, "echo in");
    expect(reached.body.stdout).toBe("in\n");
    await owner.call("DELETE", `/sandboxes/${sandbox.id}`);
  });

  test("has its open streams and requests cut when it is revoked, whatever else they were called with", async () => {
    const a = await caller("cut");
    const sandbox = await a.create();
    const authorization = `Bearer ${sandbox.auth_token}`;
    const stream = await FrameSocket.open(`${sandbox.public_host}/stream`, sandbox.auth_token);
    const body = JSON.stringify({ command: "echo begun >/tmp/begun; sleep 60", timeout: 60 });
    const post = { method: "POST", body };
    const ended = [
      fetch(`${sandbox.public_host}/commands/run`, { ...post, headers: { authorization } }),
      fetch(`${sandbox.public_host}/commands/run`, {
        ...post,
        headers: { authorization, "X-API-Key": "of nobody" },
      }),
      fetch(`${server.url}/v1/sandboxes/${sandbox.id}/metrics/stream`, {
        headers: { "X-API-Key": a.apiKey },
      }).then((answer) => answer.text()),
    ].map((call) =>
      call.then(
        () => "answered",
        () => "cut",
      ),
    );
    await expect.poll(async () => (await a.run(sandbox, "cat /tmp/begun")).body.stdout).toBe("begun\n");
    expect(await owner.told("DELETE", "/keys/cut")).toBe("200 revoked");
    expect(await Promise.all(ended)).toEqual(["cut", "cut", "cut"]);
    await expect.poll(() => stream.closed).toBeDefined();
    await owner.call("DELETE", `/sandboxes/${sandbox.id}`);
  });

  test("is not told which sandboxes of others mount its volumes", async () => {
    const a = await caller("volumes");
    const { body: volume } = await a.call("POST", "/volumes", { name: "shared", size_mb: 16 });
    const mounts = { "/data": { volume: volume.id } };
    const sandbox = await owner.create({ name: "of-the-owner", mounts });
    expect(await a.call("GET", `/volumes/${volume.id}`)).toMatchObject({ body: { sandboxes: [] } });
    const refused = await a.call("DELETE", `/volumes/${volume.id}`);
    expect(refused.status).toBe(409);
    expect(JSON.stringify(refused.body)).not.toMatch(new RegExp(`of-the-owner|${sandbox.id}`));
    expect(await owner.call("GET", `/volumes/${volume.id}`)).toMatchObject({
      body: { sandboxes: ["of-the-owner"] },
    });
    await owner.call("DELETE", `/sandboxes/${sandbox.id}`);
    await expect.poll(async () => (await a.call("DELETE", `/volumes/${volume.id}`)).status).toBe(200);
  });

  test("ends when it expires", async () => {
    const a = await caller("expiring", { expires_in_seconds: 1 });
    await expect.poll(() => a.told("GET", "/sandboxes")).toBe("401 API_KEY_EXPIRED");
    expect(await keyNamed("expiring")).toMatchObject({ status: "expired" });
  });

  test("waits after a sandbox or a program of it was ended for what it took of the kernel, longer each time", async () => {
    const [harmful, harmless] = [await caller("harmful"), await caller("harmless")];
    const taking = { code: unreadReplies, language: "python", timeout: 30 };
    const waited = async (): Promise<unknown> => {
      const { status, headers, body } = await harmful.call("POST", "/sandboxes", { template_name: "base" });
      const { code } = body.error as { code: string };
      return { status, code, seconds: Number(headers.get("retry-after")) };
    };
    expect(await harmful.agent(await harmful.create(), "/execute", taking)).toMatchObject({ status: 410 });
    const first = { status: 429, code: "RATE_LIMIT_EXCEEDED", seconds: 1 };
    expect(await waited()).toEqual(first);
    expect(await harmful.told("POST", "/executions", program)).toBe("429 RATE_LIMIT_EXCEEDED");
    expect((await harmless.call("POST", "/executions", program)).status).toBe(200);

    await expect.poll(() => harmful.told("POST", "/executions", program)).toMatch(/^200/);
    const { body } = await harmful.call("POST", "/executions", taking);
    expect(body.stderr).toContain("It took too much of the kernel");
    expect(await waited()).toEqual({ ...first, seconds: 2 });

    // Whoever runs the server is nobody's tenant.
    await owner.call("POST", "/executions", taking);
    expect((await owner.call("POST", "/executions", program)).status).toBe(200);
  });

  test("keeps its sandboxes and its revocation over a restart, also with a copy of the data directory", async () => {
    const [a, gone] = [await caller("restarts"), await caller("restarts-revoked")];
    const sandbox = await a.create();
    await owner.call("DELETE", "/keys/restarts-revoked");
    await server.stop();
    const original = directory;
    directory = await mkdtemp(join(tmpdir(), "api-keys-"));
    await cp(original, directory, { recursive: true });
    await rm(original, { recursive: true });
    await start();
    const again = (apiKey: string) => new ControlPlaneCaller({ url: server.url, apiKey });
    expect(await ids(again(a.apiKey))).toEqual([sandbox.id]);
    expect(await again(gone.apiKey).told("GET", "/sandboxes")).toBe("401 API_KEY_REVOKED");
    expect(await owner.told("DELETE", `/sandboxes/${sandbox.id}`)).toBe("200 deleted");
  });
});

/** Every operation on one sandbox. */
const operationsOn = ({ id }: CreatedSandbox): [string, string, object?][] => [
  ["GET", `/sandboxes/${id}`],
  ["DELETE", `/sandboxes/${id}`],
  ...["pause", "resume", "stop", "start", "token/refresh"].map((step): [string, string] => [
    "POST",
    `/sandboxes/${id}/${step}`,
  ]),
  ["PUT", `/sandboxes/${id}/timeout`, { timeout_seconds: 60 }],
  ["GET", `/sandboxes/${id}/metrics/stream`],
  ["GET", `/sandboxes/${id}/egress`],
];
