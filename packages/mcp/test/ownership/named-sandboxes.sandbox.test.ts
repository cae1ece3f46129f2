import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect, type McpConnection } from "../support/mcp-connection.js";

let mcp: McpConnection;
beforeAll(async () => {
  mcp = await connect();
});
afterAll(() => mcp.client.close());

const named = (name: string, more: Record<string, unknown> = {}): Promise<Record<string, unknown>> =>
  mcp.result("create_sandbox", { name, ...more });

describe("a sandbox that is created by a name", () => {
  it("is found the next time, and gets the lifetime that is asked for then", async () => {
    const first = await named("work", { timeout_seconds: 100 });
    expect(first).toMatchObject({ name: "work", created: true });
    const second = await named("work", { timeout_seconds: 1000 });
    expect(second).toMatchObject({ id: first.id, name: "work", created: false });
    const remaining = Date.parse(String(second.expires_at)) - Date.now();
    expect(remaining).toBeGreaterThan(900_000);
    expect(Date.parse(String((await named("work")).expires_at)) - Date.now()).toBeGreaterThan(900_000);
  });

  it("is a different one in another namespace", async () => {
    const [one, other] = [await named("work", { namespace: "a" }), await named("work", { namespace: "b" })];
    expect(new Set([one.id, other.id, (await named("work")).id]).size).toBe(3);
    expect(await named("work", { namespace: "a" })).toMatchObject({
      id: one.id,
      namespace: "a",
      created: false,
    });
  });

  it("is created once for all clients that ask at the same time", async () => {
    const all = await Promise.all([1, 2, 3].map(() => named("together")));
    expect(new Set(all.map(({ id }) => id)).size).toBe(1);
    expect(all.map(({ created }) => created).sort()).toEqual([false, false, true]);
  });

  it("is created for the clients that still wait when another one cancels", async () => {
    const cancellation = new AbortController();
    const given = { name: "shared" };
    const first = mcp.call("create_sandbox", given, { signal: cancellation.signal });
    const others = [1, 2].map(() => named("shared"));
    // When the server answers this call, it has begun with the three calls before.
    await mcp.result("health");
    cancellation.abort();
    await expect(first).rejects.toThrow();
    const [one, other] = await Promise.all(others);
    expect(one?.id).toBe(other?.id);
    expect(await named("shared")).toMatchObject({ id: one?.id, status: "running", created: false });
  });

  it("is resumed if it is paused, and created again if it does not exist any more", async () => {
    const { id } = await named("sleepy");
    await mcp.result("pause_sandbox", { id });
    expect(await named("sleepy")).toMatchObject({ id, status: "running", created: false });
    await mcp.result("delete_sandbox", { id });
    const again = await named("sleepy");
    expect(again.created).toBe(true);
    expect(again.id).not.toBe(id);
  });

  it("is not used if it has another template", async () => {
    const { id } = await named("typed", { template_name: "base" });
    const sentence = await mcp.failure("create_sandbox", {
      name: "typed",
      template_name: "code-interpreter",
    });
    expect(sentence).toMatch(new RegExp(`${id}.*base.*another name.*delete_sandbox`));
  });

  it("is not used if it has other access to the internet", async () => {
    const { id } = await named("offline", { internet_access: false });
    expect(await named("offline", { internet_access: false })).toMatchObject({ id, created: false });
    const sentence = await mcp.failure("create_sandbox", { name: "offline", internet_access: true });
    expect(sentence).toMatch(new RegExp(`${id}.*without internet access.*another name.*delete_sandbox`));
  });

  it("says which variables were not set", async () => {
    const env_vars = { LEVEL: "1" };
    expect(await named("varied", { env_vars })).not.toHaveProperty("note");
    expect(await named("varied", { env_vars })).toMatchObject({ note: expect.stringMatching(/env_set/) });
  });

  it("needs a name where there is a namespace", async () => {
    expect(await mcp.failure("create_sandbox", { namespace: "a" })).toMatch(/give both or neither/);
  });
});
