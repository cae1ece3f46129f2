import { totalmem } from "node:os";
import { ApiError, type Sandbox, SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ControlPlaneCaller } from "../support/control-plane-caller.js";
import { descendants } from "../support/host-processes.js";
import { type LocalServer, startLocalServer } from "../support/local-server.js";

/** Memory and disk of one sandbox together, in MiB. The server has room for two sandboxes, but not for three. */
const needMb = 512;
const roomMb = 2.5 * needMb;

let server: LocalServer;
let client: SandboxClient;

beforeAll(async () => {
  const hostMb = Math.min(totalmem(), process.constrainedMemory() || Infinity) / 2 ** 20;
  const overcommit = String(roomMb / Math.floor(hostMb));
  server = await startLocalServer({
    args: ["--memory-mb", "256", "--disk-mb", "256", "--pool", "2", "--memory-overcommit", overcommit],
  });
  client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url, retry: { attempts: 1 } });
});
afterAll(async () => {
  await client?.close();
  await server?.stop();
});

const waitsForOwner = (): boolean =>
  descendants(server.pid).some(({ commandLine }) => commandLine.startsWith("bwrap "));

async function refusal(call: Promise<unknown>): Promise<ApiError> {
  const error = await call.catch((reason: unknown) => reason);
  if (error instanceof ApiError) return error;
  throw new Error(`not refused: ${String(error)}`);
}

describe("a server that has given away the memory that sandboxes may use together", () => {
  test("ends machines of the pool to make room for a sandbox, and refuses a sandbox too many", async () => {
    await expect.poll(waitsForOwner).toBe(true);
    // Ask for other limits than the default, so that the server starts a machine instead of taking one from the pool.
    const created: Sandbox[] = [await client.sandboxes.create({ limits: { memoryMb: 300 } })];
    created.push(await client.sandboxes.create({ limits: { memoryMb: 300 } }));
    const third = await refusal(client.sandboxes.create({ limits: { memoryMb: 300 } }));
    expect([third.status, third.code]).toEqual([429, "RESOURCE_LIMIT_ERROR"]);
    expect(third.message).toMatch(/may use 556 MiB.*Delete what is no longer needed/);
    const [first, second] = created;
    await first?.stop();
    const instead = await client.sandboxes.create();
    await expect(first?.start()).rejects.toMatchObject({ code: "RESOURCE_LIMIT_ERROR" });
    expect((await first?.refresh())?.status).toBe("stopped");
    await instead.delete();
    await first?.start();
    expect((await first?.execute("print('back')"))?.stdout).toBe("back\n");
    for (const sandbox of [first, second]) await sandbox?.delete();
  });

  test("says of a sandbox that can never fit that it never will", async () => {
    const never = await refusal(client.sandboxes.create({ limits: { memoryMb: 2048 } }));
    expect([never.status, never.code]).toEqual([400, "LIMITS_UNAVAILABLE"]);
    expect(never.message).toContain("may use 2304 MiB");
    const told = await new ControlPlaneCaller(server).call("POST", "/sandboxes", {
      template_name: "base",
      limits: { memory_mb: 2048 },
    });
    expect(told.body.message).toContain("--memory-overcommit");
  });
});
