import { describe, expect, test } from "vitest";
import type { SandboxError } from "../../src/index.js";
import { carriers, rejection, testClient } from "../support/clients.js";
import { sandboxService, wireSandbox } from "../support/sandbox-service.js";
import { type Handler, inTurn, json } from "../support/scripted-server.js";

const create = "POST /v1/sandboxes";
const health = "GET /health";
const remove = "DELETE /v1/sandboxes/abc";
const silent: Handler = () => undefined;
const broken: Handler = (_, response) => response.destroy();
const made: Handler = (_, response) => json(response, 201, wireSandbox("http://127.0.0.1:9"));
const says =
  (body: object): Handler =>
  (_, response) =>
    json(response, 200, { status: "healthy", ...body });

const knowsKeys = says({ idempotent_creates: true });

describe.each(carriers)("over %s, a create whose answer", (_, carrier) => {
  test.each([
    ["does not come", silent],
    ["is lost with its connection", broken],
  ])("%s is repeated with its idempotency key if the server knows such keys", async (_, fault) => {
    const { controlPlane } = await sandboxService({ [create]: inTurn(fault, made), [health]: knowsKeys });
    const sandbox = await testClient(controlPlane.url, carrier).sandboxes.create({
      requestTimeoutSeconds: 8,
    });
    expect(sandbox.id).toBe("abc");
    expect(controlPlane.calls()).toEqual([create, health, create]);
    const [first, , second] = controlPlane.requests.map(({ headers }) => headers["idempotency-key"]);
    expect(first).toMatch(/^[0-9a-f-]{36}$/);
    expect(second).toBe(first);
  });

  test("comes late is used, although the create was repeated", async () => {
    let answer: (() => void) | undefined;
    const { controlPlane } = await sandboxService({
      [create]: inTurn(
        (request, response) => {
          answer = () => made(request, response);
        },
        () => answer?.(),
      ),
      [health]: knowsKeys,
    });
    const client = testClient(controlPlane.url, carrier);
    expect((await client.sandboxes.create({ requestTimeoutSeconds: 8 })).id).toBe("abc");
    expect(controlPlane.calls()).toEqual([create, health, create]);
  });

  test("is lost with its connection is an error that says what may exist, if the server states no such keys", async () => {
    const { controlPlane } = await sandboxService({ [create]: broken, [health]: says({}) });
    const failure = await rejection(testClient(controlPlane.url, carrier).sandboxes.create());
    expect(failure).toMatchObject({
      name: "NetworkError",
      wasSent: true,
      hint: expect.stringMatching(/may have been created.*client\.sandboxes\.list\(\)/),
    });
    expect(controlPlane.calls()).toEqual([create, health]);
  });

  test("does not come is awaited, if the server states no idempotency keys", async () => {
    const { controlPlane } = await sandboxService({ [create]: silent, [health]: says({}) });
    const client = testClient(controlPlane.url, { ...carrier, timeouts: { requestSeconds: 1 } });
    const failure = await rejection(client.sandboxes.create());
    expect(failure).toMatchObject({
      name: "TimeoutError",
      summary: "The sandbox was not ready within 1 s.",
      hint: expect.stringMatching(/deletes it as soon as.*client\.sandboxes\.list\(\).*requestTimeout/),
    });
    expect(controlPlane.calls()).toEqual([create, health]);
    await client.close({ timeoutSeconds: 0 });
  });

  test("does not come before the caller gives up is asked for again, and the sandbox is deleted", async () => {
    const { controlPlane } = await sandboxService({ [create]: inTurn(silent, made), [health]: knowsKeys });
    const client = testClient(controlPlane.url, carrier);
    const controller = new AbortController();
    const pending = rejection(
      client.sandboxes.create({ requestTimeoutSeconds: 8, signal: controller.signal }),
    );
    await expect.poll(() => controlPlane.requests.length).toBe(1);
    controller.abort();
    expect(await pending).toMatchObject({ name: "AbortError" });
    await client.close();
    expect(controlPlane.calls()).toEqual([create, health, create, remove]);
  });

  test("never comes after the caller has given up becomes a warning", async () => {
    const warnings: SandboxError[] = [];
    const { controlPlane } = await sandboxService({ [create]: silent, [health]: says({}) });
    const hooks = { onWarning: (warning: SandboxError) => warnings.push(warning) };
    const client = testClient(controlPlane.url, { ...carrier, hooks });
    await rejection(client.sandboxes.create({ requestTimeoutSeconds: 0.5 }));
    await expect.poll(() => controlPlane.calls()).toEqual([create, health]);
    controlPlane.drop();
    await expect.poll(() => warnings).toMatchObject([{ name: "NetworkError", wasSent: true }]);
  });

  test("is repeated no more often than retry allows", async () => {
    const { controlPlane } = await sandboxService({ [create]: broken, [health]: knowsKeys });
    for (const [retry, tries] of [
      [false, 1],
      [{ attempts: 2 }, 2],
    ] as const) {
      controlPlane.requests.length = 0;
      const client = testClient(controlPlane.url, { ...carrier, retry });
      expect(await rejection(client.sandboxes.create())).toMatchObject({ name: "NetworkError" });
      expect(controlPlane.calls().filter((call) => call === create)).toHaveLength(tries);
    }
  });

  test("is a refusal is not asked for again", async () => {
    const { controlPlane } = await sandboxService({
      [create]: (_, response) => json(response, 500, { error: "no" }),
      [health]: knowsKeys,
    });
    const failure = await rejection(testClient(controlPlane.url, carrier).sandboxes.create());
    expect(failure).toMatchObject({ name: "ServerError" });
    expect(controlPlane.calls()).toEqual([create]);
  });
});

test.each([
  ["executeBackground", "/execute/background"],
  ["runBackground", "/commands/background"],
  ["executeAsync", "/execute/async"],
])("%s is limited by timeouts.request, however long programs may take", async (start, path) => {
  const { controlPlane } = await sandboxService({ [`POST ${path}`]: silent });
  const client = testClient(controlPlane.url, { timeouts: { requestSeconds: 1 } });
  const sandbox = await client.sandboxes.get("abc");
  const starts: Record<string, () => Promise<unknown>> = {
    executeBackground: () => sandbox.executeBackground("1", { timeoutSeconds: 3600 }),
    runBackground: () => sandbox.commands.runBackground("sleep 1", { timeoutSeconds: 3600 }),
    executeAsync: () => sandbox.executeAsync("1", "https://example.com/", { timeoutSeconds: 3600 }),
  };
  expect(await rejection(starts[start]?.() ?? Promise.resolve())).toMatchObject({
    name: "TimeoutError",
    summary: expect.stringContaining("within 1 s"),
  });
});
