import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { RunningAgent, sandboxId } from "../support/running-agent.js";
import { forgeToken, publicJwk, signToken } from "../support/tokens.js";

let agent: RunningAgent;
beforeAll(async () => {
  agent = await RunningAgent.start({ desktop: false });
});
afterAll(() => agent[Symbol.asyncDispose]());

const envWith = (authorization: string) =>
  agent.call("GET", "/env", undefined, { headers: { authorization } });

describe("a caller is let in", () => {
  test("with a token for this sandbox, again and again", async () => {
    const token = await signToken({ sub: sandboxId });
    for (let turn = 0; turn < 3; turn += 1) expect((await envWith(`Bearer ${token}`)).status).toBe(200);
  });

  test("also when the agent was given its key as a JWK", async () => {
    await using other = await RunningAgent.start({ publicKey: await publicJwk() });
    expect((await other.call("GET", "/env")).status).toBe(200);
  });

  test("whatever the scheme's case", async () => {
    expect((await envWith(`bearer ${await signToken({ sub: sandboxId })}`)).status).toBe(200);
  });

  test.each(["/", "/health", "/info", "/ping", "/system"])("without a token at %s", async (path) => {
    const { status } = await agent.call("GET", path, undefined, { headers: { authorization: "" } });
    expect(status).toBe(200);
  });
});

describe("a caller is turned away", () => {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const inAnHour = Math.floor(Date.now() / 1000) + 3600;
  const claims = encode({ iss: "cloud-sandbox", sub: sandboxId, exp: inAnHour });

  test.each([
    ["no header", () => "", "AUTHENTICATION_REQUIRED"],
    ["another scheme", () => "Basic dXNlcjpwYXNz", "AUTHENTICATION_REQUIRED"],
    ["no token", () => "Bearer ", "AUTHENTICATION_REQUIRED"],
    ["text that is no token", () => "Bearer nonsense", "INVALID_TOKEN"],
    ["another sandbox's token", async () => `Bearer ${await signToken({ sub: "other" })}`, "INVALID_TOKEN"],
    [
      "another issuer's token",
      async () => `Bearer ${await signToken({ sub: sandboxId, iss: "x" })}`,
      "INVALID_TOKEN",
    ],
    ["a token signed with another key", async () => `Bearer ${await forgeToken(sandboxId)}`, "INVALID_TOKEN"],
    ["an unsigned token", () => `Bearer ${encode({ alg: "none" })}.${claims}.`, "INVALID_TOKEN"],
    [
      "a token with an invented signature",
      () => `Bearer ${encode({ alg: "EdDSA" })}.${claims}.AAAA`,
      "INVALID_TOKEN",
    ],
    [
      "an expired token",
      async () => `Bearer ${await signToken({ sub: sandboxId, expires: "-1s" })}`,
      "TOKEN_EXPIRED",
    ],
    ["an endless token", () => `Bearer ${"a".repeat(9000)}`, "INVALID_TOKEN"],
  ])("with %s", async (_what, header, code) => {
    const { status, headers, body } = await envWith(await header());
    expect({ status, code: body.code }).toEqual({ status: 401, code });
    expect(headers["www-authenticate"]).toBe("Bearer");
    expect(body.message).toBe(body.error);
  });

  test("as soon as a token that was good expires", async () => {
    const token = await signToken({ sub: sandboxId, expires: "1h" });
    expect((await envWith(`Bearer ${token}`)).status).toBe(200);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3_600_000 });
    try {
      expect((await envWith(`Bearer ${token}`)).body.code).toBe("TOKEN_EXPIRED");
    } finally {
      vi.useRealTimers();
    }
  });

  test("before its body is read", async () => {
    const { status } = await agent.call("POST", "/execute", Buffer.from("{"), {
      headers: { authorization: "" },
    });
    expect(status).toBe(401);
  });
});

describe("a request that fits no operation", () => {
  test.each([
    ["POST", "/nowhere", 404, "NOT_FOUND"],
    ["GET", "/nowhere", 404, "NOT_FOUND"],
    ["GET", "/terminal", 426, "INVALID_REQUEST"],
    ["GET", "/execute", 405, "METHOD_NOT_ALLOWED"],
  ])("%s %s answers %i", async (method, path, status, code) => {
    const answer = await agent.call(method, path, method === "POST" ? { code: "1" } : undefined);
    expect({ status: answer.status, code: answer.body.code }).toEqual({ status, code });
  });

  test.each([
    ["GET", "/desktop/vnc/status"],
    ["POST", "/desktop/screenshot"],
    ["GET", "/desktop/windows/list"],
  ])("%s %s says that there is no desktop", async (method, path) => {
    const { status, body } = await agent.call(method, path);
    expect({ status, code: body.code }).toEqual({ status: 400, code: "DESKTOP_NOT_AVAILABLE" });
  });
});
