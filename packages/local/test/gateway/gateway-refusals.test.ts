import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import { controlPlaneEnvelope, Problem } from "@cloud-sandbox/server-kit";
import { describe, expect, onTestFinished, test } from "vitest";
import { problemPage, type RefusalForm, refuse } from "../../src/gateway/refusal.js";

const problem = new Problem(418, "CONFLICT", 'A <pot> & "more".', { headers: { "retry-after": "7" } });

/** Sends a request to a server that refuses it with `error`. Resolves with the refusal that the client receives. */
async function refused(
  error: unknown,
  form?: RefusalForm,
  {
    headers = [],
    before = () => undefined,
  }: { headers?: string[]; before?: (response: ServerResponse) => unknown } = {},
) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    before(response);
    refuse(request, response, error, form);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  client.write(["GET / HTTP/1.1", "Host: a", "Connection: close", ...headers, "", ""].join("\r\n"));
  const answer = await text(client);
  const [head = "", body = ""] = answer.split("\r\n\r\n");
  return { answer, head, body, requests };
}

describe("a refusal of the gateway", () => {
  test("is the problem in the agent's form, with its headers and an id", async () => {
    const { head, body } = await refused(problem);
    expect(head).toMatch(/^HTTP\/1\.1 418 /);
    const [, id] = /^x-request-id: (req_[\da-f]{32})\r?$/m.exec(head) ?? [];
    expect(JSON.parse(body)).toMatchObject({ code: "CONFLICT", message: problem.message, request_id: id });
    expect(Math.abs(Date.parse(JSON.parse(body).timestamp) - Date.now())).toBeLessThan(10_000);
    expect(head).toMatch(/^content-type: application\/json\r?$/m);
    expect(head).toMatch(new RegExp(`^content-length: ${Buffer.byteLength(body)}\r?$`, "m"));
    expect(head).toMatch(/^retry-after: 7\r?$/m);
    expect(head).not.toMatch(/cache-control/i);
  });

  test("may have another form", async () => {
    const { body } = await refused(problem, { envelope: controlPlaneEnvelope });
    expect(JSON.parse(body)).toMatchObject({ error: { code: "CONFLICT" } });
  });

  test("for an unexpected error says that the agent cannot be read, and nothing of the cause", async () => {
    const { head, body } = await refused(new Error("secret"));
    expect(head).toMatch(/^HTTP\/1\.1 409 /);
    expect(JSON.parse(body)).toMatchObject({ code: "AGENT_UNREADABLE" });
    expect(body).not.toContain("secret");
  });

  test("is a page for browsers, which is not cached", async () => {
    const { head, body } = await refused(
      problem,
      { forPeople: true },
      { headers: ["Accept: text/html,*/*"] },
    );
    expect(head).toMatch(/^HTTP\/1\.1 418 /);
    expect(head).toMatch(/^content-type: text\/html; charset=utf-8\r?$/m);
    expect(head).toMatch(/^cache-control: no-store\r?$/m);
    expect(body).toBe(problemPage(problem));
  });

  test.each<[string, RefusalForm, string[]]>([
    ["asks for JSON", { forPeople: true }, ["Accept: application/json"]],
    ["says nothing of what it takes", { forPeople: true }, []],
    ["asks where no people are expected", {}, ["Accept: text/html"]],
  ])("is JSON for a client that %s", async (_, form, headers) => {
    const { head } = await refused(problem, form, { headers });
    expect(head).toMatch(/^content-type: application\/json\r?$/m);
    expect(/cache-control: no-store/.test(head)).toBe(form.forPeople === true);
  });

  test("breaks off an answer that has begun", async () => {
    const before = (response: ServerResponse) =>
      response.writeHead(200, { "content-length": 100 }).write("x");
    const { answer } = await refused(problem, {}, { before });
    expect(answer).not.toContain("418");
    expect(answer).not.toContain("CONFLICT");
  });

  test("is not sent to a client that has gone", async () => {
    const { answer } = await refused(problem, {}, { before: (response) => response.destroy() });
    expect(answer).toBe("");
  });

  test("reads the rest of the request, so that the client reads the refusal", async () => {
    const { requests } = await refused(problem, {}, { headers: ["Content-Length: 5"] });
    expect(requests[0]?.readableFlowing).toBe(true);
  });
});

test("a page shows what a problem says as text", () => {
  const page = problemPage(problem);
  expect(page).toContain("<p>A &lt;pot&gt; &amp; &quot;more&quot;.</p>");
  expect(page).toContain("<title>CONFLICT</title>");
  expect(page).toContain("<code>CONFLICT</code>");
});
