import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { contractRouter, controlPlaneEnvelope, Problem } from "@cloud-sandbox/server-kit";
import { controlPlaneContract } from "@cloud-sandbox/server-kit/control-plane-contract";
import type { Delivery } from "@cloud-sandbox/server-kit/handlers";
import { describe, expect, onTestFinished, test } from "vitest";
import { answering, WebhookReceiver } from "../../../../test/support/webhook-receiver.js";
import { agentTarget } from "../../src/agents/agent-target.js";
import { storageFull } from "../../src/store/storage-problem.js";
import { openStore, type Store } from "../../src/store/store.js";
import { newDeliveryId } from "../../src/webhooks/delivery.js";
import { DeliveryRepository } from "../../src/webhooks/delivery-repository.js";
import type { WebhookOptions } from "../../src/webhooks/webhook-options.js";
import { Webhooks } from "../../src/webhooks/webhooks.js";
import { tokenFor } from "../support/gateway-rig.js";
import { type Asked, type Said, ScriptedAgent } from "../support/scripted-agent.js";

const started = { execution_id: "e1", process_id: "bg_1/x", status: "running" };
const ended = {
  status: "completed",
  exit_code: 0,
  duration: 1,
  stdout: "",
  stdout_bytes: 0,
  stderr: "",
  stderr_bytes: 0,
};
const running = { ...ended, status: "running" };

/** An agent that starts what it is asked to, and says `job` of it. */
const agentSaying =
  (job: Said) =>
  ({ url }: Asked): Said =>
    url.startsWith("/execute/background") ? started : url.startsWith("/execute/kill") ? {} : job;

interface Given {
  readonly answer?: (asked: Asked, count: number) => Said;
  readonly store?: Store;
  readonly options?: WebhookOptions;
  readonly send?: () => void;
}

/** Webhooks behind a server, as the gateway has them. */
async function webhooks({ answer = agentSaying(ended), store: given, options, send }: Given = {}) {
  const store = given ?? (await openStore());
  const log: string[] = [];
  const agent = await ScriptedAgent.start(answer);
  const asked: string[] = [];
  const made = new Webhooks({
    store,
    options: { allowPrivateAddresses: true, firstRetryMs: 20, maxRetryMs: 50, ...options },
    send: async (sandboxId, request) => {
      asked.push(sandboxId);
      send?.();
      return agent.send(request);
    },
    token: async (sandboxId) => `own token of ${sandboxId}`,
    log: (line) => log.push(line),
  });
  const api = contractRouter({
    contract: {
      ...controlPlaneContract,
      operations: controlPlaneContract.operations.filter(({ operationId }) => /Webhook/.test(operationId)),
    },
    handlers: made.handlers,
    envelope: controlPlaneEnvelope,
    authenticate: () => undefined,
    bodyLimit: 1000,
  });
  const server = createServer((request, response) => {
    const target = agentTarget(request);
    if (target && made.handles(request, target)) void made.handle(request, response);
    else if (request.url?.startsWith("/v1/")) void api.handle(request, response);
    else response.writeHead(299).end();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(async () => {
    await made.close();
    if (!given) await store.close();
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const call = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(url + path, init);
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: text && JSON.parse(text) };
  };
  const execute = (body: object, headers: Record<string, string> = {}, path = "/agent/s/execute/async") =>
    call(path, {
      method: "POST",
      headers: { authorization: `Bearer ${tokenFor("s")}`, "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  const deliveries = async () => new DeliveryRepository(await store.database());
  return { webhooks: made, agent, asked, log, call, execute, deliveries, store };
}

const nowhere = "http://127.0.0.1:1/hook";

describe("code that is executed asynchronously", () => {
  test("is started as a background job, without what is only for its end", async () => {
    const { execute, agent, asked } = await webhooks({ answer: agentSaying(running) });
    const answer = await execute(
      {
        code: "é",
        language: "python",
        callback_url: nowhere,
        callback_headers: { "x-secret": "1" },
        callback_signature_secret: "s",
      },
      { "x-request-id": "mine", "x-api-key": "account", "x-other": "kept", cookie: "c=1" },
    );
    expect(answer.status).toBe(200);
    const { timestamp, message, ...rest } = answer.body;
    expect(rest).toEqual({
      execution_id: "e1",
      process_id: "bg_1/x",
      status: "queued",
      callback_url: nowhere,
    });
    expect(message).toContain("bg_1/x was started");
    expect(Math.abs(Date.parse(timestamp) - Date.now())).toBeLessThan(10_000);
    const [{ method, url, headers, body } = { method: "", url: "", headers: {}, body: "" }] = agent.asked;
    expect({ method, url, body: JSON.parse(body) }).toEqual({
      method: "POST",
      url: "/execute/background",
      body: { code: "é", language: "python", timeout: 3600 },
    });
    expect(headers).toMatchObject({
      authorization: `Bearer ${tokenFor("s")}`,
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(body)),
      "x-request-id": "mine",
      "x-other": "kept",
    });
    expect(headers).not.toHaveProperty("x-api-key");
    expect(headers).not.toHaveProperty("cookie");
    expect(asked[0]).toBe("s");
  });

  test("may be asked for without a path, by whom the token is for", async () => {
    const { execute, asked } = await webhooks({ answer: agentSaying(running) });
    const body = { code: "1", callback_url: nowhere };
    const answer = await execute(
      body,
      { authorization: `Bearer ${tokenFor("of-token")}` },
      "/execute/async?a=b",
    );
    expect(answer.status).toBe(200);
    expect(asked[0]).toBe("of-token");
  });

  test.each([
    ["GET", "/agent/s/execute/async"],
    ["POST", "/agent/s/execute/background"],
  ])("is not what %s %s asks for", async (method, path) => {
    const { call, agent } = await webhooks();
    expect((await call(path, { method })).status).toBe(299);
    expect(agent.asked).toEqual([]);
  });

  test("is not started when nothing could be sent to its callback", async () => {
    const { execute, agent } = await webhooks({ options: { allowPrivateAddresses: false } });
    for (const callback_url of [nowhere, "ftp://example.com/"]) {
      const { status, body } = await execute({ code: "1", callback_url });
      expect({ status, code: body.code }).toEqual({ status: 400, code: "INVALID_REQUEST" });
    }
    expect(agent.asked).toEqual([]);
  });

  test("goes to public addresses only, unless that is said", async () => {
    const store = await openStore();
    onTestFinished(async () => void (await store.close()));
    const { execute, agent } = await webhooks({
      store,
      options: { allowPrivateAddresses: undefined as never },
    });
    expect((await execute({ code: "1", callback_url: nowhere })).status).toBe(400);
    expect(agent.asked).toEqual([]);
  });

  test("that the agent refuses is refused in its words", async () => {
    const text = JSON.stringify({ error: { code: "NO", message: "é" } });
    const { execute, agent, deliveries } = await webhooks({ answer: () => ({ status: 422, text }) });
    const answer = await execute({ code: "1", callback_url: nowhere });
    expect({ status: answer.status, text: answer.text }).toEqual({ status: 422, text });
    expect(answer.headers.get("x-agent")).toBe("1");
    expect(answer.headers.get("set-cookie")).toBeNull();
    expect(answer.headers.get("content-length")).toBe(String(Buffer.byteLength(text)));
    expect(agent.asked).toHaveLength(1);
    expect((await deliveries()).list({})).toEqual([]);
  });

  test.each<[string, Said]>([
    ["no JSON", { status: 200, text: "hello" }],
    ["no process", { execution_id: "e" }],
    ["an empty name", { ...started, execution_id: "" }],
    ["an empty process", { ...started, process_id: "" }],
    ["a name without end", { ...started, execution_id: "x".repeat(201) }],
    ["a process without end", { ...started, process_id: "x".repeat(201) }],
  ])("has an agent that answers with %s: that is told", async (_, said) => {
    const { execute, deliveries } = await webhooks({ answer: () => said });
    const { status, body } = await execute({ code: "1", callback_url: nowhere });
    expect({ status, code: body.code }).toEqual({ status: 409, code: "AGENT_UNREADABLE" });
    expect(body.message).toContain("agent of sandbox s");
    expect((await deliveries()).list({})).toEqual([]);
  });

  test("may have names of 200 characters", async () => {
    const names = { execution_id: "e".repeat(200), process_id: "p".repeat(200) };
    const { execute } = await webhooks({
      answer: ({ url }) => (url.includes("background") ? names : running),
    });
    expect((await execute({ code: "1", callback_url: nowhere })).body).toMatchObject(names);
  });

  test("has an agent that answers without end: that is logged", async () => {
    const { execute, log } = await webhooks({ answer: () => ({ status: 200, text: "x".repeat(65 * 1024) }) });
    expect((await execute({ code: "1", callback_url: nowhere })).status).toBe(500);
    expect(log).toEqual([
      expect.stringMatching(/^executeAsync failed \(.+\): Error: .* more than 65536 bytes/),
    ]);
  });

  test("is killed when its end could not be reported", async () => {
    const store = await openStore();
    onTestFinished(async () => void (await store.close()));
    const database = await store.database();
    const run = database.run.bind(database);
    database.run = (sql, values) => {
      if (sql.startsWith("INSERT")) throw storageFull(new Error("full"));
      run(sql, values);
    };
    const { execute, agent } = await webhooks({ store });
    const { status, body } = await execute({ code: "1", callback_url: nowhere });
    expect({ status, code: body.code }).toEqual({ status: 507, code: "STORAGE_FULL" });
    const [, kill] = agent.asked;
    expect({ method: kill?.method, url: kill?.url, body: kill?.body }).toEqual({
      method: "POST",
      url: "/execute/kill/bg_1%2Fx",
      body: "",
    });
    expect(kill?.headers).toMatchObject({ authorization: `Bearer ${tokenFor("s")}`, "content-length": "0" });
    expect(agent.asked).toHaveLength(2);
  });

  test("is refused when a thousand others are not done", async () => {
    const { execute, deliveries, agent } = await webhooks({ answer: agentSaying(running) });
    const known = await deliveries();
    const add = () => {
      const id = newDeliveryId();
      const callback = { url: nowhere, headers: {}, secret: undefined };
      known.add({ id, sandboxId: "s", executionId: "e", createdAt: new Date() }, callback);
      return id;
    };
    const first = add();
    for (let count = 1; count < 1000; count += 1) add();
    const request = { code: "1", callback_url: nowhere };
    const { status, body } = await execute(request);
    expect({ status, code: body.code }).toEqual({ status: 429, code: "RESOURCE_EXHAUSTED" });
    expect(body.message).toContain("At most 1000 asynchronous executions may run");
    expect(agent.asked).toEqual([]);
    known.change(first, { status: "failed" });
    expect((await execute(request)).status).toBe(200);
  });
});

const done = (known: DeliveryRepository): Promise<Delivery> =>
  expect
    .poll(() => known.list({})[0]?.status)
    .toBe("delivered")
    .then(() => known.list({})[0] as Delivery);

describe("its end", () => {
  test("is reported, and asked for with a token of our own", async () => {
    await using receiver = await WebhookReceiver.start();
    const { execute, deliveries, agent, log } = await webhooks({
      answer: (asked, count) => agentSaying(count < 3 ? running : ended)(asked),
    });
    await execute({ code: "1", callback_url: receiver.url, callback_headers: { "x-mine": "1" } });
    const delivery = await done(await deliveries());
    expect(delivery).toMatchObject({ sandboxId: "s", executionId: "e1", attempts: 1, responseStatus: 200 });
    expect(delivery.queuedAt?.getTime()).toBeGreaterThanOrEqual(delivery.createdAt.getTime());
    expect(receiver.received).toHaveLength(1);
    expect(JSON.parse(receiver.received[0]?.body ?? "")).toMatchObject({
      execution_id: "e1",
      sandbox_id: "s",
      status: "completed",
    });
    expect(receiver.received[0]?.headers["x-mine"]).toBe("1");
    const question = agent.asked.find(({ url }) => url.startsWith("/execute/processes/"));
    expect({ method: question?.method, token: question?.headers.authorization }).toEqual({
      method: "GET",
      token: "Bearer own token of s",
    });
    expect(log).toEqual([]);
  });

  test("is kept until there is room for it", async () => {
    await using receiver = await WebhookReceiver.start();
    const store = await openStore();
    onTestFinished(async () => void (await store.close()));
    const database = await store.database();
    const run = database.run.bind(database);
    let refused = 0;
    database.run = (sql, values) => {
      if (sql.startsWith("UPDATE") && refused++ < 1) throw storageFull(new Error("full"));
      run(sql, values);
    };
    const { execute, deliveries, log } = await webhooks({ store });
    await execute({ code: "1", callback_url: receiver.url });
    await done(await deliveries());
    expect(refused).toBeGreaterThan(1);
    expect(receiver.received).toHaveLength(1);
    expect(log).toEqual([]);
  });

  test.each([
    ["another error", () => new Error("broken")],
    ["another problem", () => new Problem(500, "INTERNAL_ERROR", "broken")],
  ])("that cannot be kept for %s is logged", async (_, error) => {
    const store = await openStore();
    onTestFinished(async () => void (await store.close()));
    const database = await store.database();
    const run = database.run.bind(database);
    let tries = 0;
    database.run = (sql, values) => {
      if (sql.startsWith("UPDATE")) {
        tries += 1;
        throw error();
      }
      run(sql, values);
    };
    const { execute, log } = await webhooks({ store });
    await execute({ code: "1", callback_url: nowhere });
    await expect
      .poll(() => log)
      .toEqual([expect.stringMatching(/^Webhook delivery whd_\w+ was not queued: .*broken/)]);
    expect(tries).toBe(1);
  });

  test("is shown, and may be reported again when it is done", async () => {
    await using receiver = await WebhookReceiver.start();
    const { execute, deliveries, call } = await webhooks();
    await execute({ code: "1", callback_url: receiver.url });
    const { id } = await done(await deliveries());
    expect((await call("/v1/webhook-deliveries")).body.data).toMatchObject([{ id, status: "delivered" }]);
    const again = await call(`/v1/webhook-deliveries/${id}/redeliver`, { method: "POST" });
    expect(again.body).toMatchObject({ id, status: "pending", attempts: 0 });
    await expect.poll(() => receiver.received.length).toBe(2);
    await done(await deliveries());
    const [first, second] = receiver.received;
    expect(second?.body).toBe(first?.body);
  });
});

describe("a new process", () => {
  /** Runs with a store in a directory, of which `before` may have left something there. */
  const inDirectory = async (before: (known: DeliveryRepository) => void, given: Given = {}) => {
    const directory = await mkdtemp(join(tmpdir(), "webhooks-test-"));
    const store = await openStore(directory);
    onTestFinished(async () => {
      await store.close();
      await rm(directory, { recursive: true });
    });
    before(new DeliveryRepository(await store.database()));
    return webhooks({ ...given, store });
  };
  const left = (known: DeliveryRepository, url: string, isPending: boolean) => {
    const id = newDeliveryId();
    const createdAt = new Date();
    known.add({ id, sandboxId: "s", executionId: "old", createdAt }, { url, headers: {}, secret: undefined });
    if (isPending)
      known.change(id, { status: "pending", queuedAt: createdAt, nextAttemptAt: createdAt, payload: "{}" });
    return id;
  };

  test.each([
    ["delivers what was to be delivered", true, 0],
    ["follows what ran", false, 1],
  ])("%s", async (_, isPending, questions) => {
    await using receiver = await WebhookReceiver.start();
    const {
      webhooks: made,
      deliveries,
      agent,
    } = await inDirectory((known) => left(known, receiver.url, isPending));
    await made.resume();
    await done(await deliveries());
    expect(receiver.received).toHaveLength(1);
    expect(agent.asked).toHaveLength(questions);
  });

  test("with a store in memory has nothing to go on with, and makes no database", async () => {
    const memory = await openStore();
    let opened = 0;
    const database = () => {
      opened += 1;
      return memory.database();
    };
    const { webhooks: made } = await webhooks({ store: { ...memory, database } });
    await made.resume();
    expect(opened).toBe(0);
    await memory.close();
  });

  test("that is closed follows and delivers nothing more, and is not troubled by that", async () => {
    await using receiver = await WebhookReceiver.start(answering(500));
    const {
      webhooks: made,
      agent,
      log,
      deliveries,
    } = await inDirectory(
      (known) => {
        left(known, receiver.url, true);
        left(known, nowhere, false);
      },
      { answer: () => running, options: { firstRetryMs: 300, maxRetryMs: 300 } },
    );
    await made.resume();
    await expect.poll(() => receiver.received.length > 0 && agent.asked.length > 0).toBe(true);
    await made.close();
    const before = [receiver.received.length, agent.asked.length];
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect([receiver.received.length, agent.asked.length]).toEqual(before);
    expect(
      (await deliveries())
        .list({})
        .map(({ status }) => status)
        .sort(),
    ).toEqual(["pending", "waiting"]);
    expect(log.filter((line) => /not queued/.test(line))).toEqual([]);
  });

  test("that is closed before anything was needed closes", async () => {
    const { webhooks: made } = await webhooks();
    await made.close();
  });
});
