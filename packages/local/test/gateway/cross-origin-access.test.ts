import { text } from "node:stream/consumers";
import { sandboxPaused } from "@cloud-sandbox/server-kit/handlers";
import { describe, expect, test } from "vitest";
import { CrossOriginAccess } from "../../src/gateway/request-guards.js";
import { GatewayRig, received, sandboxId, switched, tokenFor, upgradeHead } from "../support/gateway-rig.js";

const allowed = "https://app.example";
const corsOrigins = [allowed, "http://localhost:5173"];
const agentAnswer =
  "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nAccess-Control-Allow-Origin: *\r\nX-Request-ID: req_1\r\n\r\n{}";

async function ask(rig: GatewayRig, line: string, ...headers: readonly string[]): Promise<string> {
  const head = [`${line} HTTP/1.1`, "Connection: close", ...headers];
  if (!headers.some((header) => header.startsWith("Host:"))) head.push("Host: localhost");
  return text(rig.open(`${head.join("\r\n")}\r\n\r\n`));
}

const served = (origins = corsOrigins): Promise<GatewayRig> =>
  GatewayRig.start((socket) => socket.end(agentAnswer), { corsOrigins: origins });

const pausedSandbox = (): never => {
  throw sandboxPaused(sandboxId);
};

const addresses = [
  ["the control plane", "/v1/sandboxes"],
  ["an agent", `/agent/${sandboxId}/env`],
  ["an agent at the root", "/env"],
];
const token = `Authorization: Bearer ${tokenFor(sandboxId)}`;

describe.each(addresses)("a page of an allowed origin", (what, path) => {
  test(`may send ${what} the methods and headers of the APIs`, async () => {
    await using rig = await served();
    const wanted = "Access-Control-Request-Headers: authorization, x-api-key, idempotency-key, content-type";
    const method = "Access-Control-Request-Method: PATCH";
    const answer = await ask(rig, `OPTIONS ${path}`, `Origin: ${allowed}`, method, wanted);
    expect(answer).toMatch(/^HTTP\/1\.1 204 /);
    const said = fields(answer);
    expect(said["access-control-allow-origin"]).toBe(allowed);
    expect(said["access-control-allow-methods"]).toContain("PATCH");
    expect(said["access-control-allow-headers"]?.toLowerCase().split(", ")).toEqual(
      expect.arrayContaining([
        ...["authorization", "x-api-key", "idempotency-key", "content-type", "x-request-id", "traceparent"],
      ]),
    );
    expect(said).not.toHaveProperty("access-control-allow-credentials");
    expect(said.vary).toBe("Origin");
    expect(answer).not.toContain("req_1");
  });

  test(`may read the answer of ${what}, also a refusal`, async () => {
    await using rig = await served();
    for (const isRefused of [false, true]) {
      if (isRefused) rig.sandbox = pausedSandbox;
      const said = fields(await ask(rig, `GET ${path}`, `Origin: ${allowed}`, token));
      expect(said).toMatchObject({ "access-control-allow-origin": allowed, vary: "Origin" });
      expect(said["access-control-expose-headers"]).toMatch(/Retry-After.*X-RateLimit-Limit.*X-Request-ID/);
    }
  });

  test.each([
    ["another origin", "https://app.example.evil", corsOrigins],
    ["another scheme", "http://app.example", corsOrigins],
    ["another port", "https://app.example:8443", corsOrigins],
    ["no origin of its own", "null", corsOrigins],
    ["any origin where none is allowed", allowed, []],
  ])(`that is a page of %s gets no CORS headers from ${what}`, async (_, origin, origins) => {
    await using rig = await served(origins);
    const method = "Access-Control-Request-Method: GET";
    for (const line of [`OPTIONS ${path}`, `GET ${path}`]) {
      const said = fields(await ask(rig, line, `Origin: ${origin}`, method, token));
      expect(Object.keys(said).filter((name) => name.startsWith("access-control-"))).toEqual([]);
    }
  });
});

test("an OPTIONS that is not a preflight is passed on", async () => {
  await using rig = await served();
  expect(await ask(rig, `OPTIONS /agent/${sandboxId}/env`, `Origin: ${allowed}`)).toMatch(
    /req_1[\s\S]*\{\}$/,
  );
});

test("a GET with the header of a preflight is passed on", async () => {
  await using rig = await served();
  const method = "Access-Control-Request-Method: GET";
  expect(await ask(rig, `GET /agent/${sandboxId}/env`, `Origin: ${allowed}`, method)).toMatch(
    /^HTTP\/1\.1 200 [\s\S]*req_1[\s\S]*\{\}$/,
  );
});

test("where no origin is allowed, answers do not depend on the origin", async () => {
  await using rig = await served([]);
  expect(fields(await ask(rig, `GET /agent/${sandboxId}/env`, `Origin: ${allowed}`))).not.toHaveProperty(
    "vary",
  );
});

test("a preview sets its CORS headers itself", async () => {
  const preview = `Host: 3000-${sandboxId}.localhost`;
  await using rig = await GatewayRig.start(
    (socket) => {
      socket.write("HTTP/1.1 200 Connected\r\n\r\n");
      socket.once("data", (head) => socket.end(`${agentAnswer.replace("{}", String(head).slice(0, 2))}`));
    },
    { corsOrigins },
  );
  for (const [line, body] of [
    ["GET /", "GE"],
    ["OPTIONS /", "OP"],
  ] as const) {
    const method = "Access-Control-Request-Method: GET";
    const answer = await ask(rig, line, preview, `Origin: ${allowed}`, method);
    expect(fields(answer)["access-control-allow-origin"]).toBe("*");
    expect(answer).toMatch(new RegExp(`\r\n\r\n${body}$`));
  }
});

// The gateway does not check the origin of a WebSocket: clients other than browsers send any origin they like, and a
// page in a browser cannot send the token that a WebSocket needs.
test("a WebSocket is checked by its token, whatever its origin", async () => {
  await using rig = await GatewayRig.start((socket, head) => {
    socket.end(
      /authorization/i.test(head) ? switched : "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n",
    );
  });
  const terminal = (...headers: string[]): (() => string) =>
    received(
      rig.open(upgradeHead(`/agent/${sandboxId}/terminal`, "Origin: https://other.example", ...headers)),
    );
  await expect.poll(terminal(token)).toContain("HTTP/1.1 101 ");
  await expect.poll(terminal()).toContain("HTTP/1.1 401 ");
});

test.each([
  "*",
  "null",
  "app.example",
  "https://app.example/",
  "https://App.example",
  "http://app.example:80",
  "x https://app.example",
  "https://app.example, https://b.example",
  "https://app.example?a",
])("%s is not a valid origin to allow", (origin) => {
  expect(() => new CrossOriginAccess([origin])).toThrow(/as in https:\/\/app\.example/);
});

/** The headers of an answer, by their names in lower case. */
function fields(answer: string): Record<string, string> {
  const found = answer.split("\r\n\r\n")[0]?.matchAll(/^([\w-]+): (.*)\r?$/gm) ?? [];
  return Object.fromEntries([...found].map(([, name = "", value = ""]) => [name.toLowerCase(), value]));
}
