import { createHmac } from "node:crypto";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { json } from "node:stream/consumers";
import { type Sandbox, SandboxClient } from "cloud-sandbox";
import { type LocalControlPlane, startLocalControlPlane } from "cloud-sandbox-local";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { report, reports, start, startIn } from "../support/async-executions.js";
import { killAgent } from "../support/sandbox-agent.js";
import { answering, WebhookReceiver } from "../support/webhook-receiver.js";

let controlPlane: LocalControlPlane;
let client: SandboxClient;
let sandbox: Sandbox;
const lines: string[] = [];

beforeAll(async () => {
  controlPlane = await startLocalControlPlane({
    webhooks: { allowPrivateAddresses: true, firstRetryMs: 50, maxRetryMs: 200 },
    log: (line) => lines.push(line),
  });
  client = new SandboxClient({ apiKey: controlPlane.apiKey, baseUrl: controlPlane.url });
  sandbox = await client.sandboxes.create({ template: "code-interpreter", timeoutSeconds: 300 });
});
afterAll(async () => {
  await client?.close();
  await controlPlane?.close();
});

const deliveriesOf = async (id: string, from = client) => {
  const { data } = await from.controlPlane.GET("/v1/webhook-deliveries", {
    params: { query: { sandbox_id: id } },
  });
  return data?.data ?? [];
};

describe("an asynchronous execution", () => {
  test("is answered in the cloud's form, and its end is reported, signed", async () => {
    await using receiver = await WebhookReceiver.start();
    const { data, response } = await startIn(sandbox, {
      code: "import os; print('out', os.environ['A']); import sys; print('err', file=sys.stderr)",
      language: "python",
      env: { A: "b" },
      callback_url: `${receiver.url}?key=hidden`,
      callback_headers: { "X-Own": "hidden" },
      callback_signature_secret: "hidden",
    });
    expect(response.status).toBe(200);
    expect(data).toMatchObject({ status: "queued", callback_url: `${receiver.url}?key=hidden` });
    const [received] = await reports(receiver, data?.execution_id ?? "");
    expect(JSON.parse(received?.body ?? "")).toMatchObject({
      status: "completed",
      success: true,
      stdout: "out b\n",
      stderr: "err\n",
      exit_code: 0,
      execution_time: expect.any(Number),
      timestamp: expect.any(String),
    });
    expect(received?.headers).toMatchObject({
      "x-own": "hidden",
      "x-hopx-signature": `sha256=${createHmac("sha256", "hidden")
        .update(received?.body ?? "")
        .digest("hex")}`,
    });
  });

  test.each([
    ["exit 3", { status: "failed", success: false, exit_code: 3, termination_reason: "exit" }],
    [
      "sleep 60",
      { status: "timeout", success: false, exit_code: 124, error: expect.stringMatching(/time limit/) },
    ],
    ["kill -9 $$", { status: "failed", exit_code: 137, termination_reason: "signal" }],
  ])("is reported with the way in which it ended: %s", async (code, expected) => {
    await using receiver = await WebhookReceiver.start();
    const timeout = code === "sleep 60" ? 1 : 60;
    const id = await start(sandbox, { code, timeout, callback_url: receiver.url });
    expect(await report(receiver, id)).toMatchObject(expected);
  });

  test("is listed with the background executions, and reported as killed when it is", async () => {
    await using receiver = await WebhookReceiver.start();
    const id = await start(sandbox, {
      code: "echo before; sleep 60",
      name: "nap",
      callback_url: receiver.url,
    });
    const { data } = await sandbox.agent.GET("/execute/processes");
    const job = data?.processes.find(({ execution_id }) => execution_id === id);
    expect(job).toMatchObject({ status: "running", name: "nap" });
    const params = { path: { process_id: id } };
    await expect
      .poll(
        async () =>
          (await sandbox.agent.GET("/execute/processes/{process_id}/output", { params })).data?.stdout,
      )
      .toBe("before\n");
    await sandbox.agent.POST("/execute/kill/{process_id}", { params });
    expect(await report(receiver, id)).toMatchObject({
      status: "failed",
      stdout: "before\n",
      termination_reason: "killed",
    });
  });

  test("of much output is reported with beginning and end", async () => {
    await using receiver = await WebhookReceiver.start();
    const code = "echo first; seq -f %09.0f 1 100000; echo last";
    const id = await start(sandbox, { code, callback_url: receiver.url });
    const { stdout, stdout_truncated } = await report(receiver, id);
    expect(stdout_truncated).toBe(true);
    expect(stdout).toMatch(/^first\n0.*\n\[\.\.\. \d+ bytes cut \.\.\.\]\n.*\nlast\n$/s);
    expect(String(stdout).length).toBeLessThan(300_000);
  });

  test("whose agent is killed is reported as failed, with what it wrote before", async () => {
    await using receiver = await WebhookReceiver.start();
    const other = await client.sandboxes.create({ template: "base" });
    const id = await start(other, { code: "echo before; sleep 60", callback_url: receiver.url });
    const params = { path: { process_id: id } };
    await expect
      .poll(
        async () =>
          (await other.agent.GET("/execute/processes/{process_id}/output", { params })).data?.stdout,
      )
      .toBe("before\n");
    await killAgent(other);
    expect(await report(receiver, id)).toMatchObject({
      status: "failed",
      stdout: "before\n",
      error: expect.stringMatching(/agent was killed/),
    });
    await other.delete();
  });

  test.each([
    ["deleted", (it: Sandbox) => it.delete()],
    ["expired", (it: Sandbox) => it.setTimeout(1)],
  ])("whose sandbox is %s is reported as failed, with that reason", async (reason, end) => {
    await using receiver = await WebhookReceiver.start();
    const other = await client.sandboxes.create({ template: "base" });
    const id = await start(other, { code: "sleep 60", callback_url: receiver.url });
    await end(other);
    expect(await report(receiver, id)).toMatchObject({
      status: "failed",
      error: expect.stringContaining(reason),
    });
  });

  test("goes on while its sandbox is paused and resumed", async () => {
    await using receiver = await WebhookReceiver.start();
    const other = await client.sandboxes.create({ template: "base" });
    const code = "until [ -e go ]; do sleep 0.05; done; echo done";
    const id = await start(other, { code, callback_url: receiver.url });
    await other.pause();
    await other.resume();
    await other.files.write("go", "");
    expect(await report(receiver, id)).toMatchObject({ status: "completed", stdout: "done\n" });
    await other.delete();
  });

  test("leaves nothing of the callback in the sandbox", async () => {
    await using receiver = await WebhookReceiver.start();
    const url = `${receiver.url}/needle-url`;
    const id = await start(sandbox, {
      // Search with a pattern: the command line would contain the needle itself, and the search would find it there.
      code: "grep -rlaE 'needle-(url|header|secret)' /tmp /workspace /proc/[0-9]*/environ 2>/dev/null | wc -l",
      callback_url: url,
      callback_headers: { "X-Own": "needle-header" },
      callback_signature_secret: "needle-secret",
    });
    expect((await report(receiver, id)).stdout).toBe("0\n");
  });

  test.each([
    ["no callback_url", { callback_url: undefined }, 400, /callback_url is required/],
    ["a callback_url of no use", { callback_url: "ftp://example.com/" }, 400, /http or https/],
    [
      "a header of the connection",
      { callback_headers: { "Transfer-Encoding": "x" } },
      400,
      /Transfer-Encoding/,
    ],
    ["a wrong type", { callback_headers: { a: 1 } }, 400, /callback_headers/],
    ["an unknown language", { language: "cobol" }, 400, /language/],
    ["a directory that is not there", { workdir: "/nowhere" }, 400, /nowhere/],
    ["too long a timeout", { timeout: 86_401 }, 400, /86400/],
    ["a wrong token", {}, 401, /./, "wrong"],
  ] as const)(
    "with %s is refused, and nothing is started",
    async (_, fields, status, message, token?: string) => {
      const { publicHost, authToken } = await access(sandbox);
      const jobs = async () => (await sandbox.agent.GET("/execute/processes")).data?.count;
      const before = [await jobs(), (await deliveriesOf(sandbox.id)).length];
      const answer = await fetch(`${publicHost}/execute/async`, {
        method: "POST",
        headers: { authorization: `Bearer ${token ?? authToken}` },
        body: JSON.stringify({ code: "1", callback_url: "http://127.0.0.1:9/", ...fields }),
      });
      const body = (await answer.json()) as { message: string; request_id: string };
      expect(body.request_id).toBe(answer.headers.get("x-request-id"));
      expect({ status: answer.status, message: body.message }).toEqual({
        status,
        message: expect.stringMatching(message),
      });
      expect([await jobs(), (await deliveriesOf(sandbox.id)).length]).toEqual(before);
    },
  );

  test.each(["#fragment", "?#", "#?"])("is reported when its target ends in %s, too", async (ending) => {
    await using receiver = await WebhookReceiver.start();
    const { publicHost, authToken } = await access(sandbox);
    const asked = request(publicHost, {
      method: "POST",
      path: `${new URL(publicHost).pathname}/execute/async${ending}`,
      headers: { authorization: `Bearer ${authToken}` },
    }).end(JSON.stringify({ code: "print(1)", callback_url: receiver.url }));
    const [answer] = (await once(asked, "response")) as [IncomingMessage];
    const { execution_id } = (await json(answer)) as { execution_id: string };
    expect(await report(receiver, execution_id)).toMatchObject({ stdout: "1\n" });
  });

  test("is started by clients that know a host only, too", async () => {
    await using receiver = await WebhookReceiver.start();
    const { authToken } = await access(sandbox);
    const answer = await fetch(`${controlPlane.url}/execute/async`, {
      method: "POST",
      headers: { authorization: `Bearer ${authToken}` },
      body: JSON.stringify({ code: "print(1)", callback_url: receiver.url }),
    });
    const { execution_id } = (await answer.json()) as { execution_id: string };
    expect(await report(receiver, execution_id)).toMatchObject({ stdout: "1\n" });
  });
});

async function access({ id }: Sandbox): Promise<{ publicHost: string; authToken: string }> {
  const params = { path: { id } };
  const { data } = await client.controlPlane.POST("/v1/sandboxes/{id}/token/refresh", { params });
  return { publicHost: data?.public_host ?? "", authToken: data?.auth_token ?? "" };
}

test("each of 200 asynchronous executions at once is reported once", { timeout: 240_000 }, async () => {
  await using receiver = await WebhookReceiver.start();
  const ids: string[] = [];
  while (ids.length < 200) {
    const { data, response } = await startIn(sandbox, {
      code: `echo ${ids.length}`,
      callback_url: receiver.url,
    });
    if (data) ids.push(data.execution_id);
    // A sandbox runs only so many executions at a time, and refuses more with 429.
    else expect(response.status).toBe(429);
  }
  await expect.poll(() => receiver.received.length, { timeout: 120_000 }).toBe(200);
  const reported = receiver.received.map(({ body }) => JSON.parse(body));
  expect(reported.map(({ execution_id }) => execution_id).sort()).toEqual(ids.sort());
  expect(reported.map(({ stdout }) => Number(stdout)).sort((a, b) => a - b)).toEqual([...ids.keys()]);
});

describe("deliveries", () => {
  test("are listed page by page and one by one, without what is secret, and delivered again on request", async () => {
    await using receiver = await WebhookReceiver.start(answering(410));
    const other = await client.sandboxes.create({ template: "base" });
    const secrets = {
      callback_url: `${receiver.url.replace("://", "://hidden:hidden@")}?key=hidden`,
      callback_headers: { "X-Own": "hidden" },
      callback_signature_secret: "hidden",
    };
    for (const code of ["echo hidden", "true"]) await start(other, { code, ...secrets });
    await expect
      .poll(async () => (await deliveriesOf(other.id)).map(({ status }) => status))
      .toEqual(["failed", "failed"]);
    const all = await deliveriesOf(other.id);
    expect(JSON.stringify(all) + lines.join("\n")).not.toContain("hidden");
    const [latest] = all;
    expect(latest).toMatchObject({
      sandbox_id: other.id,
      callback_url: receiver.url,
      attempts: 1,
      response_status: 410,
      error: expect.stringMatching(/gone for good/),
    });

    const query = { sandbox_id: other.id, status: "failed", limit: 1 } as const;
    const first = await client.controlPlane.GET("/v1/webhook-deliveries", { params: { query } });
    const cursor = first.data?.next_cursor ?? "";
    const second = await client.controlPlane.GET("/v1/webhook-deliveries", {
      params: { query: { ...query, cursor } },
    });
    expect([first.data?.data[0]?.id, second.data?.data[0]?.id]).toEqual(all.map(({ id }) => id));
    expect([first.data?.has_more, second.data?.has_more]).toEqual([true, false]);

    receiver.behave = answering(200);
    const params = { path: { id: latest?.id ?? "" } };
    expect(
      (await client.controlPlane.POST("/v1/webhook-deliveries/{id}/redeliver", { params })).response.status,
    ).toBe(200);
    const one = async () => (await client.controlPlane.GET("/v1/webhook-deliveries/{id}", { params })).data;
    await expect.poll(async () => (await one())?.status).toBe("delivered");
    const [, , again] = receiver.received;
    expect(again?.headers["x-hopx-delivery"]).toBe(latest?.id);
    await other.delete();
  });

  test("that are not done are not delivered again, and those that never were are not found", async () => {
    await using receiver = await WebhookReceiver.start();
    const other = await client.sandboxes.create({ template: "base" });
    await start(other, { code: "sleep 60", callback_url: receiver.url });
    const [waiting] = await deliveriesOf(other.id);
    expect(waiting).toMatchObject({ status: "waiting", attempts: 0 });
    const redeliver = (id: string) =>
      client.controlPlane.POST("/v1/webhook-deliveries/{id}/redeliver", { params: { path: { id } } });
    expect((await redeliver(waiting?.id ?? "")).response.status).toBe(409);
    expect((await redeliver("whd_0")).response.status).toBe(404);
    await other.delete();
  });
});

test("the report of code that ended with a stop of its sandbox says why", async () => {
  await using receiver = await WebhookReceiver.start();
  const other = await client.sandboxes.create({ template: "base" });
  const id = await start(other, { code: "sleep 600", timeout: 600, callback_url: receiver.url });
  await other.stop();
  expect(await report(receiver, id)).toMatchObject({
    status: "failed",
    success: false,
    error: expect.stringContaining("stopped"),
  });
  await other.delete();
});
