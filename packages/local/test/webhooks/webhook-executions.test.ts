import { describe, expect, onTestFinished, test } from "vitest";
import { storageFull } from "../../src/store/storage-problem.js";
import { openStore } from "../../src/store/store.js";
import { newDeliveryId } from "../../src/webhooks/webhooks.js";
import { tokenFor } from "../support/gateway-rig.js";
import type { Said } from "../support/scripted-agent.js";
import { agentSaying, nowhere, running, started, webhooks } from "../support/webhook-rig.js";

describe("code that is executed asynchronously", () => {
  test("is started as a background job, without the fields for its report", async () => {
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

  test("may be requested without a path, by the token's sandbox", async () => {
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
  ])("is not requested by %s %s", async (method, path) => {
    const { call, agent } = await webhooks();
    expect((await call(path, { method })).status).toBe(299);
    expect(agent.asked).toEqual([]);
  });

  test("is not started if no report could be sent to its callback", async () => {
    const { execute, agent } = await webhooks({ options: { allowPrivateAddresses: false } });
    for (const callback_url of [nowhere, "ftp://example.com/"]) {
      const { status, body } = await execute({ code: "1", callback_url });
      expect({ status, code: body.code }).toEqual({ status: 400, code: "INVALID_REQUEST" });
    }
    expect(agent.asked).toEqual([]);
  });

  test("reports only to public addresses unless others are allowed", async () => {
    const store = await openStore();
    onTestFinished(async () => void (await store.close()));
    const { execute, agent } = await webhooks({
      store,
      options: { allowPrivateAddresses: undefined as never },
    });
    expect((await execute({ code: "1", callback_url: nowhere })).status).toBe(400);
    expect(agent.asked).toEqual([]);
  });

  test("that the agent refuses is refused with the agent's words", async () => {
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
  ])("whose agent answers with %s is refused with that reason", async (_, said) => {
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

  test("whose agent sends an endless answer is logged", async () => {
    const { execute, log } = await webhooks({ answer: () => ({ status: 200, text: "x".repeat(65 * 1024) }) });
    expect((await execute({ code: "1", callback_url: nowhere })).status).toBe(500);
    expect(log).toEqual([
      expect.stringMatching(/^executeAsync failed \(.+\): Error: .* more than 65536 bytes/),
    ]);
  });

  test("is killed if its end could not be reported", async () => {
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

  test("is not refused because another API key has as many as it may", async () => {
    const { execute, deliveries } = await webhooks({ answer: agentSaying(running) });
    const known = await deliveries();
    const callback = { url: nowhere, headers: {}, secret: undefined };
    for (let count = 0; count < 250; count += 1) {
      const created = { id: newDeliveryId(), sandboxId: "key_a", executionId: "e", createdAt: new Date() };
      known.add(created, callback, "key_a");
    }
    const request = { code: "1", callback_url: nowhere };
    const refused = await execute(request, {}, "/agent/key_a/execute/async");
    expect(refused).toMatchObject({ status: 429, body: { code: "RESOURCE_EXHAUSTED" } });
    expect((await execute(request, {}, "/agent/key_b/execute/async")).status).toBe(200);
    expect((await execute(request)).status).toBe(200);
  });

  test("is refused while a thousand others have not ended", async () => {
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
    expect(body.message).toContain("1000 asynchronous executions run or wait");
    expect(agent.asked).toEqual([]);
    known.change(first, { status: "failed" });
    const together = await Promise.all([1, 2, 3].map(() => execute(request)));
    expect(together.map((answer) => answer.status).sort()).toEqual([200, 429, 429]);
    known.change(known.list({ status: "waiting" })[0]?.id ?? "", { status: "failed" });
    agent.answer = () => ({ status: 422, text: "{}" });
    expect((await execute(request)).status).toBe(422);
    agent.answer = agentSaying(running);
    expect((await execute(request)).status).toBe(200);
  });
});
