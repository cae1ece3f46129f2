/** With --client-keys each client sends an API key of its own. The keys are those of a real control plane. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { type LocalServer, startLocalServer } from "../../../../test/support/local-server.js";
import {
  exchange,
  type HttpServer,
  initialize,
  posted,
  startHttpServer,
  statelessRequest,
  withoutBackend,
} from "../support/http-server.js";

let backend: LocalServer;
let server: HttpServer;

beforeAll(async () => {
  backend = await startLocalServer();
  server = await startHttpServer(["--client-keys"], {
    CLOUD_SANDBOX_BACKEND: "",
    CLOUD_SANDBOX_API_KEY: "",
    CLOUD_SANDBOX_BASE_URL: backend.url,
  });
});

afterAll(async () => {
  await server?.stop();
  await backend?.stop();
});

it("a client works with the sandboxes of its own key, and with no others", async () => {
  const [ann, bob] = await Promise.all(["ann", "bob"].map(newKey));
  const annes = await server.connect(ann);
  const { id: sandbox_id } = await annes.result("create_sandbox");
  const run = { sandbox_id, code: "print(6 * 7)" };
  expect(await annes.result("execute_code", run)).toMatchObject({ stdout: "42\n" });
  expect(await sandboxesOf(ann)).toEqual([sandbox_id]);
  const bobs = await server.connect(bob);
  expect(await bobs.failure("execute_code", run)).toContain(String(sandbox_id));
  expect(await sandboxesOf(bob)).toEqual([]);
  await annes.transport.terminateSession();
  await expect.poll(() => sandboxesOf(ann)).toEqual([]);
  await Promise.all([annes.client.close(), bobs.client.close()]);
});

it("a key that is revoked is refused with the next request, in a session too", async () => {
  const key = await newKey("cat");
  const authorization = `Bearer ${key}`;
  const begun = await exchange(server.url, posted(initialize, { authorization }));
  const session = { authorization, "mcp-session-id": String(begun.headers["mcp-session-id"]) };
  const list = { id: 2, method: "tools/list", params: {} };
  expect((await exchange(server.url, posted(list, session))).status).toBe(200);
  const revoked = await fetch(`${backend.url}/v1/keys/cat`, {
    method: "DELETE",
    headers: { "x-api-key": backend.apiKey },
  });
  expect(revoked.ok).toBe(true);
  for (const request of [
    posted(list, session),
    posted(initialize, { authorization }),
    statelessRequest("tools/list", {}, { headers: { authorization } }),
  ]) {
    const refused = await exchange(server.url, request);
    expect(refused.status).toBe(401);
    expect(refused.body).toContain("API_KEY_REVOKED");
  }
});

it.each([{}, { authorization: "Bearer guess" }, { authorization: `Basic ${btoa("a:b")}` }])(
  "a client with %s is refused",
  async (headers) => {
    const refused = await exchange(server.url, posted(initialize, headers));
    expect(refused).toMatchObject({ status: 401, headers: { "www-authenticate": "Bearer" } });
    expect(refused.body).toMatch(/API key/);
    expect(refused.body).not.toContain("guess");
  },
);

it("nobody is served while keys cannot be checked", async () => {
  const alone = await startHttpServer(["--client-keys"], {
    ...withoutBackend,
    CLOUD_SANDBOX_BACKEND: "",
    CLOUD_SANDBOX_API_KEY: "",
  });
  const answer = await exchange(alone.url, posted(initialize, { authorization: "Bearer key" }));
  expect(answer.status).toBe(503);
  expect(answer.body).toContain("could not be checked");
  await alone.stop();
});

it.each([
  [["--token", "one-token-of-this-test"], {}, /drop --token/],
  [["--no-token"], {}, /drop --token, --no-token/],
  [["--transport", "stdio"], {}, /add --transport http/],
  [["--mcp-gateway", "any"], {}, /drop --mcp-gateway/],
  [[], { CLOUD_SANDBOX_BACKEND: "local" }, /CLOUD_SANDBOX_BASE_URL/],
])("with %s %s each client cannot have a key of its own", async (args, environment, said) => {
  const started = startHttpServer(["--client-keys", ...args], { CLOUD_SANDBOX_BACKEND: "", ...environment });
  await expect(started).rejects.toThrow(said);
});

async function newKey(name: string): Promise<string> {
  const answer = await fetch(`${backend.url}/v1/keys`, {
    method: "POST",
    headers: { "x-api-key": backend.apiKey, "content-type": "application/json" },
    body: JSON.stringify({ name }),
  });
  return ((await answer.json()) as { key: string }).key;
}

async function sandboxesOf(key: string | undefined): Promise<string[]> {
  const answer = await fetch(`${backend.url}/v1/sandboxes`, { headers: { "x-api-key": String(key) } });
  return ((await answer.json()) as { data: { id: string }[] }).data.map(({ id }) => id);
}
