import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { AuthenticationError, SandboxClient } from "cloud-sandbox";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { InvalidArgumentsError } from "../../src/errors/errors.js";
import { SandboxDirectory } from "../../src/ownership/sandbox-directory.js";
import { SandboxLedger } from "../../src/ownership/sandbox-ledger.js";

const { signal } = new AbortController();
const agent = "https://7777-1762778786mxaco6r2.eu-1001.vms.hopx.dev";
/** The sandboxes of the account, by id. */
const sandboxes: Record<string, object> = {
  "1762778786mxaco6r2": { status: "running", public_host: agent },
  starting: { status: "creating" },
};

let server: Server;
let asked: string[];
let client: SandboxClient;
let directory: SandboxDirectory;

beforeEach(async () => {
  asked = [];
  server = createServer(({ method, url = "", headers }, response) => {
    const [id = "", step = ""] = decodeURIComponent(url.replace("/v1/sandboxes/", "")).split("/");
    asked.push([method, id, step].filter(Boolean).join(" "));
    if (step) sandboxes[id] = { ...sandboxes[id], status: "running" };
    const known = sandboxes[id];
    const status = headers["x-api-key"] === "right" ? (known ? 200 : 404) : 401;
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(status === 200 ? { id, ...known } : { error: "sandbox not found" }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  use("right");
});

afterEach(async () => {
  await client.close();
  server.close();
});

function use(apiKey: string): void {
  const { port } = server.address() as AddressInfo;
  client = new SandboxClient({ apiKey, baseUrl: `http://127.0.0.1:${port}` });
  directory = new SandboxDirectory(client, new SandboxLedger(), { tokenDigest: "" });
}

describe("a sandbox is looked up", () => {
  it.each([
    ["by its id", { sandbox_id: "1762778786mxaco6r2" }],
    [
      "by its id, whatever URL is given too",
      { sandbox_id: "1762778786mxaco6r2", vm_url: "https://example.com" },
    ],
    ["by its URL", { vm_url: agent }],
    ["by its URL with a slash", { vm_url: `${agent}/` }],
    ["by its URL without a scheme", { vm_url: agent.replace("https://", "") }],
  ])("%s, and only once", async (_, reference) => {
    for (let time = 0; time < 2; time += 1) {
      expect((await directory.find(reference, signal)).id).toBe("1762778786mxaco6r2");
    }
    expect(asked).toEqual(["GET 1762778786mxaco6r2"]);
  });

  it("again while it is starting, because it has no URL yet", async () => {
    await directory.find({ sandbox_id: "starting" }, signal);
    await directory.find({ sandbox_id: "starting" }, signal);
    expect(asked).toEqual(["GET starting", "GET starting"]);
  });

  it("once if its deadline is further away than a timer can wait", async () => {
    const warnings: Error[] = [];
    const warned = (warning: Error): void => void warnings.push(warning);
    process.on("warning", warned);
    const { id } = await directory.find({ sandbox_id: "1762778786mxaco6r2" }, signal);
    directory.setDeadline(id, new Date(Date.now() + 40 * 86_400_000));
    await expect(client.sandboxes.get("none")).rejects.toThrow();
    await new Promise((resolve) => setImmediate(resolve));
    process.off("warning", warned);
    directory.forget(id);
    expect(warnings).toEqual([]);
    expect(asked).toEqual([`GET ${id}`, "GET none"]);
  });

  it("again once it was removed", async () => {
    await directory.find({ sandbox_id: "1762778786mxaco6r2" }, signal);
    directory.forget("1762778786mxaco6r2");
    await directory.find({ sandbox_id: "1762778786mxaco6r2" }, signal);
    expect(asked).toHaveLength(2);
  });
});

it("the name of a sandbox that ended by itself is kept until a call learns of the end", async () => {
  sandboxes.brief = { status: "running", public_host: "https://brief.example.com" };
  const brief = await client.sandboxes.get("brief");
  const create = async (): Promise<typeof brief> => {
    directory.adopt(brief, { isLeased: true });
    return brief;
  };
  expect(await directory.getOrCreate("work", create)).toBe(brief);
  delete sandboxes.brief;
  const ended = new Promise<void>((resolve) => directory.onChange(resolve));
  directory.setDeadline("brief", new Date());
  await ended;
  expect(await directory.named("work")).toBe(brief);
  expect(directory.endedNames()).toEqual([]);
  expect(await directory.useNamed("work", (sandbox) => sandbox.refresh())).toBeUndefined();
  expect(directory.names()).toEqual([]);
  expect(directory.endedNames()).toEqual(["work"]);
});

describe("a sandbox that is found by its name", () => {
  const found = async (status: string) => {
    sandboxes.named = { status, public_host: "https://named.example.com" };
    const sandbox = await client.sandboxes.get("named");
    await directory.getOrCreate("work", async () => {
      directory.adopt(sandbox);
      return sandbox;
    });
    asked = [];
    return { sandbox, running: directory.findRunning("work", signal) };
  };
  afterEach(() => {
    directory.forget("named");
    delete sandboxes.named;
  });

  it.each([
    ["paused", ["GET named", "POST named resume"]],
    ["stopped", ["GET named", "POST named start"]],
  ])("runs again if it is %s", async (status, steps) => {
    const { sandbox, running } = await found(status);
    expect(await running).toBe(sandbox);
    expect(asked).toEqual(steps);
  });

  it("is waited for while it is being started", async () => {
    const { sandbox, running } = await found("creating");
    await expect.poll(() => asked).toHaveLength(2);
    expect(directory.names()).toEqual(["work"]);
    sandboxes.named = { ...sandboxes.named, status: "running" };
    expect(await running).toBe(sandbox);
  });

  it("keeps its name while its status is another one", async () => {
    const { running } = await found("stopping");
    await expect(running).rejects.toThrow("Call again in a moment");
    expect(directory.names()).toEqual(["work"]);
  });

  it("is forgotten if it has failed", async () => {
    expect(await (await found("error")).running).toBeUndefined();
    expect(directory.names()).toEqual([]);
  });
});

describe("a URL is refused", () => {
  it.each([
    ["of another host that has the id in its name", "https://7777-1762778786mxaco6r2.example.com"],
    ["of another host that has the id in its path", "https://example.com/agent/1762778786mxaco6r2"],
    ["with another scheme", agent.replace("https", "http")],
    ["of a sandbox that the account has not", "https://7777-1762778786unknown1.eu-1001.vms.hopx.dev"],
    ["of a sandbox that has no URL yet", "https://starting.eu-1001.vms.hopx.dev"],
    ["that is none", "http://"],
    ["a path of slashes", `${agent}${"/".repeat(200_000)}x`],
  ])("%s", { timeout: 15_000 }, async (_, vm_url) => {
    await expect(directory.find({ vm_url }, signal)).rejects.toThrow(InvalidArgumentsError);
  });

  it("with the reason if it could not be looked up", async () => {
    await client.close();
    use("wrong");
    await expect(directory.find({ vm_url: agent }, signal)).rejects.toThrow(AuthenticationError);
  });
});
