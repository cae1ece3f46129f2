import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { Agent, type IncomingMessage, request } from "node:http";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { runBuilt } from "../support/built-program.js";
import { ControlPlaneCaller, type CreatedSandbox } from "../support/control-plane-caller.js";
import { type LocalServer, startLocalServer } from "../support/local-server.js";

const limit = 600;

test("a server that has no file descriptor left says so, and does not blame the code in the sandbox", async () => {
  await withFewDescriptors(async ({ server, agent, takeAll, giveBack }) => {
    const sandbox = await new ControlPlaneCaller(server).create();
    await takeAll();
    const refused = await run(server, agent, sandbox);
    expect(refused).toMatchObject({ status: 503, retryAfter: "1", code: "SERVICE_UNAVAILABLE" });
    expect(refused.message).toMatch(/cannot open any more files.*limit of 600.*ulimit -n/);
    giveBack();
    await expect.poll(() => run(server, agent, sandbox)).toMatchObject({ status: 200, stdout: "works\n" });
  });
});

test.each([
  ["in a sandbox", { PATH: "/usr/bin:/bin" }],
  ["without one", {}],
])("a program %s that such a server refuses has not run, and may be sent again", async (_, env) => {
  await withFewDescriptors(async ({ server, agent, takeAll, giveBack }) => {
    const headers = {
      "X-API-Key": server.apiKey,
      "Idempotency-Key": "once",
      "Content-Type": "application/json",
    };
    const body = JSON.stringify({ code: "echo works", language: "bash", env });
    const program = async () => {
      const answer = await ask(agent, `${server.url}/v1/executions`, { method: "POST", headers }, body);
      return { ...(JSON.parse(await text(answer)) as object), status: answer.statusCode };
    };
    // The first sandbox has the server make what all share.
    await new ControlPlaneCaller(server).create();
    await takeAll();
    const refused = await program();
    expect(refused).toMatchObject({
      status: 503,
      message: expect.stringMatching(/cannot open any more files/),
    });
    giveBack();
    await expect.poll(program).toMatchObject({ status: 200, stdout: "works\n" });
  });
});

test("where sandboxes could open hardly any file, serve and doctor say what to raise", async () => {
  const script = 'ulimit -n 200; exec "$@"';
  for (const args of [["serve"], ["doctor"]]) {
    const { code, stdout, stderr } = await runBuilt("local", args, { through: ["sh", "-c", script, "few"] });
    expect(code).toBe(1);
    expect(stdout + stderr).toMatch(/only 200 files may be open.*ulimit -n/s);
  }
});

test("strangers who hold all connections that they get keep nobody with a key away", async () => {
  const server = await startLocalServer({ through: ["prlimit", `--nofile=${limit}`], args: ["--pool", "0"] });
  const { hostname, port } = new URL(server.url);
  const idle: Socket[] = [];
  try {
    const caller = new ControlPlaneCaller(server);
    const sandbox = await caller.create();
    for (let count = 0; count < 2 * limit; count += 1) {
      const socket = connect(Number(port), hostname).on("error", () => undefined);
      idle.push(socket);
      await once(socket, "connect");
      // Half of them send the beginning of a request.
      if (count % 2) socket.write("GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n");
    }
    await expect.poll(() => readdirSync(`/proc/${server.pid}/fd`).length).toBeLessThan(limit / 2);
    expect(await caller.run(sandbox, "echo works")).toMatchObject({ body: { stdout: "works\n" } });
    expect(await caller.run(await caller.create(), "echo works")).toMatchObject({
      body: { stdout: "works\n" },
    });
  } finally {
    for (const socket of idle) socket.destroy();
    expect(await server.stop()).toEqual({ code: 0, signal: null });
  }
});

interface FewDescriptors {
  readonly server: LocalServer;
  /** Has a connection that is open already: the server cannot accept a new one when it has no descriptor left. */
  readonly agent: Agent;
  readonly takeAll: () => Promise<void>;
  readonly giveBack: () => void;
}

/** Starts a server that may open few files. It must still be there, and end as told, after `use`. */
async function withFewDescriptors(use: (few: FewDescriptors) => Promise<void>): Promise<void> {
  const server = await startLocalServer({ through: ["prlimit", `--nofile=${limit}`], args: ["--pool", "0"] });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const allow = (files: number): void => {
    execFileSync("prlimit", ["--pid", String(server.pid), `--nofile=${files}:${limit}`]);
  };
  const giveBack = (): void => allow(limit);
  const takeAll = async (): Promise<void> => {
    expect(await health(server, agent)).toBe(200);
    // No connection of strangers can do this: see below. What is open already stays open.
    const open = new Set(readdirSync(`/proc/${server.pid}/fd`).map(Number));
    allow([...Array(limit).keys()].find((number) => !open.has(number)) ?? limit);
  };
  try {
    await use({ server, agent, takeAll, giveBack });
  } finally {
    giveBack();
    agent.destroy();
    expect(await server.stop()).toEqual({ code: 0, signal: null });
  }
}

async function ask(agent: Agent, url: string, options: object, body?: string): Promise<IncomingMessage> {
  const call = request(url, { agent, ...options });
  call.end(body);
  const [answer] = (await once(call, "response")) as [IncomingMessage];
  return answer;
}

async function health({ url }: LocalServer, agent: Agent): Promise<number | undefined> {
  const answer = await ask(agent, `${url}/health`, {});
  await text(answer);
  return answer.statusCode;
}

async function run({ url }: LocalServer, agent: Agent, { id, auth_token }: CreatedSandbox) {
  const headers = { authorization: `Bearer ${auth_token}`, "content-type": "application/json" };
  const body = JSON.stringify({ command: "echo works" });
  const answer = await ask(agent, `${url}/agent/${id}/commands/run`, { method: "POST", headers }, body);
  const said = JSON.parse(await text(answer)) as Record<string, unknown>;
  return { ...said, status: answer.statusCode, retryAfter: answer.headers["retry-after"] } as Record<
    string,
    unknown
  >;
}
