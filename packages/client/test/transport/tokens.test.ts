import { describe, expect, onTestFinished, test, vi } from "vitest";
import { TokenCache } from "../../src/agent/token-cache.js";
import { apiKey, carriers, rejection, testClient } from "../support/clients.js";
import { finished, sandboxService, tokenFor, wireSandbox } from "../support/sandbox-service.js";
import { type Handler, json, scriptedServer } from "../support/scripted-server.js";

const refresh = "POST /v1/sandboxes/abc/token/refresh";
const unauthorized: Handler = (_, response) =>
  json(response, 401, { error: "Token expired", code: "TOKEN_EXPIRED" });

function bearers(requests: { headers: Record<string, unknown> }[]): unknown[] {
  return requests.map(({ headers }) => headers.authorization);
}

describe.each(carriers)("over %s, a token", (_, carrier) => {
  test("comes with the sandbox and is sent only to its agent, which never gets the account's key", async () => {
    const { controlPlane, agent } = await sandboxService();
    const client = testClient(controlPlane.url, { ...carrier, bearerToken: "account-bearer" });
    const sandbox = await client.sandboxes.create();
    await sandbox.execute("print(1)");
    await sandbox.files.exists("/workspace");
    const token = tokenFor("abc");
    expect(controlPlane.calls()).toEqual(["POST /v1/sandboxes"]);
    for (const { headers } of agent.requests) {
      expect(headers.authorization?.slice(0, 20)).toBe(`Bearer ${token}`.slice(0, 20));
      expect(JSON.stringify(headers)).not.toContain(apiKey);
      expect(JSON.stringify(headers)).not.toContain("account-bearer");
    }
    for (const { headers } of controlPlane.requests) {
      expect(headers).toMatchObject({ "x-api-key": apiKey, authorization: "Bearer account-bearer" });
    }
  });

  test("that is missing is asked for once, however many calls need it", async () => {
    const { controlPlane, agent } = await sandboxService({
      "GET /v1/sandboxes/abc": (_, response) =>
        json(response, 200, wireSandbox(agent.url, { auth_token: undefined })),
    });
    const sandbox = await testClient(controlPlane.url, carrier).sandboxes.get("abc");
    await Promise.all(Array.from({ length: 20 }, () => sandbox.execute("print(1)")));
    await sandbox.execute("print(1)");
    expect(controlPlane.calls().filter((call) => call === refresh)).toHaveLength(1);
    expect(agent.requests).toHaveLength(21);
  });

  test("that is refused is replaced once, and the call made again with the new one", async () => {
    const { controlPlane, agent } = await sandboxService({
      "POST /execute/rich": (request, response) =>
        request.headers.authorization === `Bearer ${tokenFor("abc", { serial: 2 })}`
          ? json(response, 200, finished())
          : unauthorized(request, response),
    });
    const sandbox = await testClient(controlPlane.url, carrier).sandboxes.get("abc");
    const runs = await Promise.all(Array.from({ length: 5 }, () => sandbox.execute("print(1)")));
    expect(runs.every(({ stdout }) => stdout === "1\n")).toBe(true);
    await sandbox.execute("print(1)");
    expect(controlPlane.calls().filter((call) => call === refresh)).toHaveLength(1);
    expect(agent.requests).toHaveLength(5 + 5 + 1);
  });

  test("that is refused although new is an authentication error, without a third try", async () => {
    const { controlPlane, agent } = await sandboxService({ "POST /execute/rich": unauthorized });
    const sandbox = await testClient(controlPlane.url, carrier).sandboxes.get("abc");
    expect(await rejection(sandbox.execute("print(1)"))).toMatchObject({
      name: "AuthenticationError",
      code: "TOKEN_EXPIRED",
    });
    expect(agent.requests).toHaveLength(2);
  });

  test("that is refused, and renewed as the same token, is not tried again", async () => {
    const token = tokenFor("abc");
    const { controlPlane, agent } = await sandboxService({
      "POST /execute/rich": unauthorized,
      "GET /v1/sandboxes/abc": (_, response) =>
        json(response, 200, wireSandbox(agent.url, { auth_token: token })),
      [refresh]: (_, response) => json(response, 200, { auth_token: token, token_expires_at: null }),
    });
    const sandbox = await testClient(controlPlane.url, carrier).sandboxes.get("abc");
    expect(await rejection(sandbox.execute("print(1)"))).toMatchObject({ name: "AuthenticationError" });
    expect(agent.requests).toHaveLength(1);
  });

  test("that the control plane refuses to renew is the control plane's error", async () => {
    const { controlPlane, agent } = await sandboxService({
      "GET /v1/sandboxes/abc": (_, response) =>
        json(response, 200, wireSandbox(agent.url, { auth_token: undefined })),
      [refresh]: (_, response) => json(response, 410, { error: "It is over", code: "SANDBOX_EXPIRED" }),
    });
    const sandbox = await testClient(controlPlane.url, carrier).sandboxes.get("abc");
    expect(await rejection(sandbox.execute("print(1)"))).toMatchObject({ name: "SandboxExpiredError" });
    expect(agent.requests).toHaveLength(0);
  });

  test("is awaited only until the caller's signal; other callers get it", async () => {
    let answer: (() => void) | undefined;
    const { controlPlane, agent } = await sandboxService({
      "GET /v1/sandboxes/abc": (_, response) =>
        json(response, 200, wireSandbox(agent.url, { auth_token: undefined })),
      [refresh]: (_, response) => {
        answer = () => json(response, 200, { auth_token: tokenFor("abc"), token_expires_at: null });
      },
    });
    const sandbox = await testClient(controlPlane.url, carrier).sandboxes.get("abc");
    const controller = new AbortController();
    const impatient = rejection(sandbox.execute("print(1)", { signal: controller.signal }));
    const patient = sandbox.execute("print(1)");
    await expect.poll(() => answer).toBeDefined();
    controller.abort();
    expect(await impatient).toMatchObject({ name: "AbortError" });
    answer?.();
    expect((await patient).stdout).toBe("1\n");
  });

  test("is renewed when nine tenths of a short life are over", async () => {
    const { controlPlane, agent } = await sandboxService({
      "POST /v1/sandboxes": (_, response) =>
        json(response, 201, wireSandbox(agent.url, { auth_token: tokenFor("abc", { life: 5 }) })),
    });
    const sandbox = await testClient(controlPlane.url, carrier).sandboxes.create();
    await sandbox.execute("print(1)");
    expect(controlPlane.calls()).toEqual(["POST /v1/sandboxes"]);
    await expect
      .poll(async () => {
        await sandbox.execute("print(1)");
        return controlPlane.calls();
      })
      .toEqual(["POST /v1/sandboxes", refresh]);
  });

  test("is shared by the objects of one sandbox", async () => {
    const { controlPlane, agent } = await sandboxService({
      "GET /v1/sandboxes/abc": (_, response) =>
        json(response, 200, wireSandbox(agent.url, { auth_token: undefined })),
    });
    const client = testClient(controlPlane.url, carrier);
    for (let turn = 0; turn < 3; turn++) await (await client.sandboxes.get("abc")).execute("print(1)");
    expect(controlPlane.calls().filter((call) => call === refresh)).toHaveLength(1);
    expect(new Set(bearers(agent.requests)).size).toBe(1);
  });

  test("can be renewed on request, and is used from then on", async () => {
    const { controlPlane, agent } = await sandboxService();
    const sandbox = await testClient(controlPlane.url, carrier).sandboxes.get("abc");
    await sandbox.refreshToken();
    await sandbox.execute("print(1)");
    expect(bearers(agent.requests)).toEqual([`Bearer ${tokenFor("abc", { serial: 2 })}`]);
  });

  test.each([
    "ftp://example.com",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "not a url",
    "http://user:pw@127.0.0.1",
  ])("does not go to %s", async (publicHost) => {
    const { controlPlane } = await sandboxService({
      "GET /v1/sandboxes/abc": (_, response) => json(response, 200, wireSandbox(publicHost)),
    });
    const sandbox = await testClient(controlPlane.url, carrier).sandboxes.get("abc");
    expect(await rejection(sandbox.execute("1"))).toMatchObject({ code: "PUBLIC_HOST_REFUSED" });
  });

  test("does not follow a redirect of its agent", async () => {
    const thief = await scriptedServer((_, response) => json(response, 200, finished()));
    const { controlPlane } = await sandboxService({
      "POST /execute/rich": (_, response) =>
        response.writeHead(307, { location: `${thief.url}/execute` }).end(),
    });
    const sandbox = await testClient(controlPlane.url, carrier).sandboxes.get("abc");
    expect(await rejection(sandbox.execute("1"))).toMatchObject({ code: "REDIRECT_REFUSED" });
    expect(thief.requests).toEqual([]);
  });

  test("is sent to an agent below a path, where executions are not repeated either", async () => {
    const agent = await scriptedServer((_, response) => json(response, 503, {}, { "retry-after": "0" }));
    const controlPlane = await scriptedServer((_, response) =>
      json(response, 200, wireSandbox(`${agent.url}/sandboxes/abc/`)),
    );
    const sandbox = await testClient(controlPlane.url, carrier).sandboxes.get("abc");
    await rejection(sandbox.execute("1"));
    expect(agent.calls()).toEqual(["POST /sandboxes/abc/execute/rich"]);
  });
});

describe("the token cache", () => {
  const issuing = (values: string[], expiresAt?: Date) => {
    let issued = 0;
    const cache = new TokenCache(async () => ({ value: values[issued++] ?? "none", expiresAt }));
    return { cache, count: () => issued };
  };

  test("trusts the token's own life over a clock that is an hour off", async () => {
    const { cache, count } = issuing([tokenFor("a", { life: 600 })], new Date(Date.now() - 3_600_000));
    const first = await cache.current();
    expect(cache.current()).toBe(first);
    expect(count()).toBe(1);
  });

  test("keeps a token that seems to have expired: only a 401 shows that it has", async () => {
    const { cache, count } = issuing(["opaque", "other"], new Date(Date.now() - 3_600_000));
    expect(await cache.current()).toBe("opaque");
    expect(cache.current()).toBe("opaque");
    expect(count()).toBe(1);
    expect(await cache.replace("opaque")).toBe(true);
    expect(cache.current()).toBe("other");
  });

  test("does not renew for a 401 to a token that was replaced meanwhile", async () => {
    const { cache, count } = issuing(["first", "second"]);
    const first = await cache.current();
    await cache.renew();
    expect(await cache.replace(first)).toBe(true);
    expect(count()).toBe(2);
  });

  test("uses a token that cannot be renewed until it expires", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    const later = (seconds: number): unknown => vi.setSystemTime(Date.now() + seconds * 1000);
    let fails = false;
    const cache = new TokenCache(async () => {
      if (fails) throw new Error("no network");
      return { value: tokenFor("a", { life: 10 }), expiresAt: undefined };
    });
    const token = await cache.current();
    fails = true;
    later(8.5);
    expect(cache.current()).toBe(token);
    later(1);
    expect(cache.current()).toBeInstanceOf(Promise);
    expect(await cache.current()).toBe(token);
    later(1);
    await expect(cache.current()).rejects.toThrow("no network");
  });
});
