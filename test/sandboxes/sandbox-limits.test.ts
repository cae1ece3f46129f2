import { type Sandbox, SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type LocalServer, startLocalServer } from "../support/local-server.js";

let server: LocalServer;
let client: SandboxClient;

beforeAll(async () => {
  server = await startLocalServer({ args: ["--pool", "1", "--memory-mb", "512"] });
  client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
});
afterAll(async () => {
  await client?.close();
  await server?.stop();
});

const fill = "data = b'x' * (300 * 1024 * 1024); print(len(data))";
const memoryOf = async (sandbox: Sandbox): Promise<number | undefined> =>
  (await sandbox.system.info()).limits.memoryMb;

describe("a sandbox with limits of its own", () => {
  test("has them, also after it was stopped", async () => {
    await using sandbox = await client.sandboxes.create({ limits: { memoryMb: 256, vcpu: 0.5 } });
    const path = { id: sandbox.id };
    const { data } = await client.controlPlane.GET("/v1/sandboxes/{id}", { params: { path } });
    expect(data).toMatchObject({
      limits: { memory_mb: 256, vcpu: 0.5 },
      resources: { memory_mb: 256, vcpu: 1 },
    });
    expect(sandbox.toJSON().resources).toMatchObject({ memoryMb: 256, vcpu: 0.5 });
    expect((await client.sandboxes.get(sandbox.id)).toJSON().resources.vcpu).toBe(0.5);
    expect(await memoryOf(sandbox)).toBe(256);
    expect(await sandbox.execute(fill)).toMatchObject({ success: false });
    await sandbox.stop();
    await sandbox.start();
    expect(await memoryOf(sandbox)).toBe(256);
  });

  test("may have more than its template", async () => {
    await using sandbox = await client.sandboxes.create({ limits: { memoryMb: 768 } });
    expect(await memoryOf(sandbox)).toBe(768);
    expect(await sandbox.execute(fill)).toMatchObject({ stdout: `${300 * 1024 * 1024}\n` });
  });

  test("does not change the limits of other sandboxes", async () => {
    await using sandbox = await client.sandboxes.create();
    expect(await memoryOf(sandbox)).toBe(512);
    const path = { id: sandbox.id };
    const { data } = await client.controlPlane.GET("/v1/sandboxes/{id}", { params: { path } });
    expect(data).not.toHaveProperty("limits");
  });

  test.for([
    ["more memory than there is", { memoryMb: 1_048_576 }, "LIMITS_UNAVAILABLE"],
    ["more processors than there are", { vcpu: 1024 }, "LIMITS_UNAVAILABLE"],
    ["too little memory", { memoryMb: 64 }, "INVALID_ARGUMENT"],
    ["no processor", { vcpu: 0 }, "INVALID_ARGUMENT"],
  ] as const)("is refused with %s", async ([, limits, code]) => {
    await expect(client.sandboxes.create({ limits })).rejects.toMatchObject({
      name: "ValidationError",
      code,
    });
  });

  test("is not created by a server that does not state limits", async () => {
    const forgetful = new SandboxClient({
      apiKey: server.apiKey,
      baseUrl: server.url,
      fetch: async (request) => {
        if (request.method !== "POST" || !request.url.endsWith("/v1/sandboxes")) return fetch(request);
        const { limits: _, ...body } = (await request.json()) as Record<string, unknown>;
        return fetch(request.url, {
          method: "POST",
          headers: request.headers,
          body: JSON.stringify(body),
        });
      },
    });
    const create = forgetful.sandboxes.create({ limits: { memoryMb: 256 } });
    await expect(create).rejects.toMatchObject({ code: "LIMITS_NOT_MET" });
    await forgetful.close();
    for await (const left of client.sandboxes.list()) throw new Error(`${left.id} is left`);
  });
});
