/** How servers come and go, with servers that only count. What runs in sandboxes is in mcp-servers.sandbox.test.ts. */
import { SandboxClient } from "cloud-sandbox";
import type { McpServerConfiguration } from "cloud-sandbox-mcp-runner/configuration";
import { afterAll, expect, it } from "vitest";
import { SandboxLedger } from "../../src/ownership/sandbox-ledger.js";
import { OtherServers, type OtherServersOptions } from "../../src/servers/other-servers.js";
import type { RunningServer, ServerEvents } from "../../src/servers/running-server.js";

const client = new SandboxClient({ apiKey: "never-used", baseUrl: "http://127.0.0.1:9" });
afterAll(() => client.close());

const names = ["a", "b", "c"];

function configuration(name: string, more: Partial<McpServerConfiguration> = {}): McpServerConfiguration {
  return { name, command: "x", timeoutMinutes: 10, template: "t", ...more };
}

/** Servers with one tool, `wait`, which ends when the test says so. */
function serversOf(options: Partial<OtherServersOptions> = {}) {
  const told: string[] = [];
  const events = new Map<string, ServerEvents>();
  let go = (): void => undefined;
  const start: OtherServersOptions["start"] = async ({ name }, _, given) => {
    told.push(`start ${name}`);
    events.set(name, given);
    const server: RunningServer = {
      listTools: async () => [{ name: "wait", inputSchema: { type: "object" } }],
      callTool: async () => {
        await new Promise<void>((resolve) => {
          go = resolve;
        });
        return { content: [] };
      },
      listOthers: async () => ({ prompts: [], resources: [], resourceTemplates: [], completes: false }),
      relay: async () => {
        throw new Error("nothing is relayed here");
      },
      extend: async () => undefined,
      close: async () => void told.push(`close ${name}`),
    };
    return server;
  };
  const configurations = names.map((name) => configuration(name));
  const servers = new OtherServers({ configurations, environment: {}, start, ...options });
  const place = { client, ledger: new SandboxLedger() };
  return { servers, told, events, forClient: () => servers.forClient(place), go: () => go() };
}

const call = () => ({ signal: new AbortController().signal, report: () => undefined });

it("starts a server on its first use, once for calls at the same time, and lists what runs", async () => {
  const { forClient, told } = serversOf();
  const own = forClient();
  expect(own.list().map(({ status }) => status)).toEqual(["stopped", "stopped", "stopped"]);
  await Promise.all([own.tools("a", call()), own.tools("a", call())]);
  expect(told).toEqual(["start a"]);
  expect(own.list()[0]).toEqual({ name: "a", internet: "none", status: "running" });
});

it("gives each client servers of its own, and ends those of one", async () => {
  const { forClient, told } = serversOf();
  const [one, other] = [forClient(), forClient()];
  await one.tools("a", call());
  await other.tools("a", call());
  await one.close();
  expect(told).toEqual(["start a", "start a", "close a"]);
  expect(other.list()[0]?.status).toBe("running");
});

it("ends the server that was not used for longest where a client has too many, or all together have", async () => {
  const { forClient, told } = serversOf({ most: 3, mostOfClient: 2 });
  const [one, other] = [forClient(), forClient()];
  for (const name of ["a", "b", "a", "c"]) await one.tools(name, call());
  expect(told).toEqual(["start a", "start b", "start c", "close b"]);
  for (const name of ["a", "b"]) await other.tools(name, call());
  expect(told.slice(4)).toEqual(["start a", "start b", "close a"]);
});

it("refuses another server while all are at work", async () => {
  const { forClient, go, told } = serversOf({ mostOfClient: 1 });
  const own = forClient();
  await own.tools("a", call());
  const working = own.call("a", "wait", {}, call(), 60);
  await expect(own.tools("b", call())).rejects.toThrow(/at most 1 for one client.*Call again/);
  let result: unknown;
  void working.then((answer) => {
    result = answer;
  });
  // The call may not have reached the server yet.
  await expect
    .poll(() => {
      go();
      return result;
    })
    .toEqual({ content: [] });
  await own.tools("b", call());
  expect(told).toEqual(["start a", "start b", "close a"]);
});

it("ends a server that nobody has used for as long as its configuration says", async () => {
  const configurations = [configuration("a", { timeoutMinutes: 0.0001 })];
  const { forClient, told } = serversOf({ configurations });
  const own = forClient();
  await own.tools("a", call());
  await expect.poll(() => told).toEqual(["start a", "close a"]);
  await own.tools("a", call());
  expect(told.at(2)).toBe("start a");
});

it("starts a server again that has ended by itself", async () => {
  const { events, forClient, told } = serversOf();
  const own = forClient();
  await own.tools("a", call());
  events.get("a")?.onEnd();
  await own.tools("a", call());
  expect(told.filter((each) => each === "start a")).toHaveLength(2);
});

it("says that a start takes long, with what it does just now, and goes on with it", async () => {
  let finish = (): void => undefined;
  const started = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const parts = serversOf();
  const slow = new OtherServers({
    configurations: [configuration("a")],
    environment: { CLOUD_SANDBOX_MCP_DETACH_AFTER: "1" },
    start: async (given, place, events) => {
      events.onStep("Installing a: npm");
      await started;
      return parts.servers.start(given, place, events);
    },
  });
  const own = slow.forClient({ client, ledger: new SandboxLedger() });
  const steps: string[] = [];
  const first = own.tools("a", { ...call(), report: (step) => steps.push(step) });
  await expect(first).rejects.toThrow(/still being started after 1 s \(Installing a: npm\).*call again/);
  finish();
  expect(await own.tools("a", call())).toHaveLength(1);
});

it("leaves the start to others when its caller goes, and names what exists for what does not", async () => {
  const { forClient } = serversOf();
  const own = forClient();
  const left = AbortSignal.abort(new Error("left"));
  await expect(own.tools("a", { ...call(), signal: left })).rejects.toThrow("left");
  await expect(own.tools("aa", call())).rejects.toThrow(/no server "aa"; there is a, b, c\./);
  await expect(own.call("a", "wai", {}, call(), 60)).rejects.toThrow(/no tool "wai"; did you mean wait\?/);
});

it("tells of lists that have changed, and asks for them again", async () => {
  const { events, forClient, servers } = serversOf();
  const own = forClient();
  const changed: string[] = [];
  servers.onListChange((name, owner) => owner === own && changed.push(name));
  await own.tools("a", call());
  events.get("a")?.onListChange();
  expect(changed).toEqual(["a"]);
  expect(await own.tools("a", call())).toHaveLength(1);
});
