import { once } from "node:events";
import { Agent, createServer, get, request, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, test } from "vitest";
import { type ProxyTimes, ReplicaProxy } from "../../src/cluster/replica-proxy.js";

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

const switching = "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n";

/** A control plane's server that says its name. Upgraded connections get back what they send. */
function named(name: string): Server {
  const server = createServer((_, response) => response.end(name));
  server.on("upgrade", (_, socket: Socket) => {
    socket.write(switching);
    socket.pipe(socket);
  });
  return server;
}

/** A control plane's server whose answers the test gives. */
function asked(): { server: Server; begun: ServerResponse[] } {
  const begun: ServerResponse[] = [];
  const server = createServer((_, response) => void begun.push(response));
  server.on("upgrade", (_, socket: Socket) => {
    socket.write(switching);
  });
  return { server, begun };
}

/** What servers know of each other, as a Lease tells it. */
class Known {
  address: string | undefined;
  endingAddress: string | undefined;
}

async function opened(
  known: Known,
  times?: Partial<ProxyTimes>,
): Promise<{ proxy: ReplicaProxy; url: string }> {
  const proxy = new ReplicaProxy(known, { lingerMs: 0, ...times });
  ends.push(() => proxy.close());
  return { proxy, url: await proxy.open("127.0.0.1", 0) };
}

/** A server that leads, with the proxy at which others pass requests on. */
async function leading(
  known: Known,
  server: Server,
  times?: Partial<ProxyTimes>,
): Promise<{ proxy: ReplicaProxy; url: string }> {
  const one = await opened(known, times);
  known.address = await one.proxy.lead(server, "127.0.0.1", 0);
  return one;
}

interface Answer {
  readonly status: number | undefined;
  readonly headers: Record<string, unknown>;
  readonly body: string;
}

const ask = (url: string, agent: Agent | false = false): Promise<Answer> =>
  new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      const { statusCode: status, headers } = response;
      text(response).then((body) => resolve({ status, headers, body }), reject);
    }).on("error", reject);
  });

/** Opens a WebSocket, without the frames. */
async function upgraded(url: string): Promise<Socket> {
  const call = request(url, { headers: { connection: "upgrade", upgrade: "websocket" } }).end();
  const [, socket] = (await once(call, "upgrade")) as [unknown, Socket];
  ends.push(() => socket.destroy());
  return socket;
}

test("a server that leads answers itself, others pass requests on to it", async () => {
  const known = new Known();
  const { proxy, url } = await opened(known);
  await leading(known, named("leader"));
  expect((await ask(url)).body).toBe("leader");
  await proxy.lead(named("own"), "127.0.0.1", 0);
  expect((await ask(url)).body).toBe("own");
  proxy.follow();
  expect((await ask(url)).body).toBe("leader");
});

test("requests are passed on with their bodies and headers, and answers with theirs", async () => {
  const known = new Known();
  const server = createServer(async (incoming, response) => {
    const { method, url, headers } = incoming;
    response.writeHead(201, { "x-answer": "yes", "set-cookie": ["a=1", "b=2"] });
    response.end(`${method} ${url} ${headers.host} ${headers["x-asked"]} ${await text(incoming)}`);
  });
  await leading(known, server);
  const { url } = await opened(known);
  const response = await fetch(`${url}/place?query=1`, {
    ...{ method: "DELETE", body: "body", headers: { "x-asked": "yes" } },
  });
  expect(await response.text()).toBe(`DELETE /place?query=1 ${new URL(url).host} yes body`);
  expect([response.status, response.headers.get("x-answer"), response.headers.getSetCookie()]).toEqual([
    201,
    "yes",
    ["a=1", "b=2"],
  ]);
});

test("connections with another protocol are passed on, and cut with their server", async () => {
  const known = new Known();
  const { proxy } = await leading(known, named("leader"));
  const { url } = await opened(known);
  const socket = await upgraded(url);
  socket.write("ping");
  expect(String((await once(socket, "data"))[0])).toBe("ping");
  const closed = once(socket, "close");
  proxy.follow();
  await closed;
});

test.each([
  ["another server", async (_: ReplicaProxy, known: Known) => void (await leading(known, named("next")))],
  [
    "this server",
    async (proxy: ReplicaProxy, known: Known) => {
      known.address = await proxy.lead(named("next"), "127.0.0.1", 0);
    },
  ],
])("a call that a lost leader does not answer ends when %s leads", async (_, change) => {
  const known = new Known();
  const silent = asked();
  await leading(known, silent.server);
  const { proxy, url } = await opened(known);
  const outcome = expect(ask(url)).rejects.toMatchObject({ code: "ECONNRESET" });
  await expect.poll(() => silent.begun.length).toBe(1);
  await change(proxy, known);
  await outcome;
  expect((await ask(url)).body).toBe("next");
});

test("callers wait while nobody leads, also if the last leader is still named", async () => {
  const known = new Known();
  const { proxy } = await leading(known, named("last"));
  proxy.close();
  const { url } = await opened(known);
  const answer = ask(url);
  await leading(known, named("next"));
  expect((await answer).body).toBe("next");
});

test("callers who have waited for long are told to come again", async () => {
  const { url } = await opened(new Known(), { waitMs: 200 });
  expect(await ask(`${url}/v1/sandboxes`)).toMatchObject({ status: 503, headers: { "retry-after": "2" } });
  expect(JSON.parse((await ask(`${url}/agent/1/health`)).body)).toMatchObject({
    code: "SERVICE_UNAVAILABLE",
  });
});

test("requests are not passed on twice while two servers are mistaken about who leads", async () => {
  const known = new Known();
  const { proxy } = await leading(known, named("last"));
  const { url } = await opened(known);
  const agent = new Agent({ keepAlive: true });
  ends.push(() => agent.destroy());
  expect((await ask(url, agent)).body).toBe("last");
  proxy.follow();
  expect(await ask(url, agent)).toMatchObject({ status: 503 });
});

describe("a server that is told to stop", () => {
  test("answers what it has begun; what comes later waits for the next one; connections end", async () => {
    const known = new Known();
    const { server, begun } = asked();
    const { proxy, url } = await leading(known, server);
    const { url: other } = await opened(known);
    const early = [ask(url), ask(other)];
    await expect.poll(() => begun.length).toBe(2);
    proxy.beginToEnd();
    const finished = proxy.finishCalls();
    const late = [ask(url), ask(other)];
    for (const response of begun) response.end("last");
    expect((await Promise.all(early)).map(({ body }) => body)).toEqual(["last", "last"]);
    expect((await early[0])?.headers.connection).toBe("close");
    await finished;
    known.endingAddress = known.address;
    known.address = undefined;
    const rest = proxy.passOnRest();
    await leading(known, named("next"));
    const answers = await Promise.all(late);
    expect(answers.map(({ body }) => body)).toEqual(["next", "next"]);
    expect([answers[0]?.headers.connection, begun.length]).toEqual(["close", 2]);
    await rest;
  });

  test("interrupts code that runs for too long, and goes on with changes", async () => {
    const known = new Known();
    const { server, begun } = asked();
    const { proxy, url } = await leading(known, server, { executionsMs: 100 });
    const executions = [ask(`${url}/agent/1/execute`), ask(`${url}/v1/executions`)];
    const stream = ask(`${url}/agent/1/execute/stream`);
    const change = ask(`${url}/v1/sandboxes`);
    await expect.poll(() => begun.length).toBe(4);
    begun.find(({ req }) => req.url?.endsWith("stream"))?.write("begun");
    const cut = expect(stream).rejects.toMatchObject({ code: "ECONNRESET" });
    const socket = await upgraded(`${url}/agent/1/stream`);
    const closed = once(socket, "close");
    const finished = proxy.finishCalls();
    for (const execution of executions)
      expect(await execution).toMatchObject({
        ...{ status: 409, body: expect.stringContaining("EXECUTION_INTERRUPTED") },
      });
    await Promise.all([cut, closed]);
    begun.find(({ req }) => req.url === "/v1/sandboxes")?.end("changed");
    expect((await change).body).toBe("changed");
    await finished;
  });

  test("ends the calls that others have passed on to it, although another one leads", async () => {
    const known = new Known();
    const { server, begun } = asked();
    const { proxy } = await leading(known, server);
    const { proxy: other, url } = await opened(known);
    const answer = ask(url);
    await expect.poll(() => begun.length).toBe(1);
    const finished = proxy.finishCalls();
    known.endingAddress = known.address;
    known.address = await other.lead(named("next"), "127.0.0.1", 0);
    begun[0]?.end("last");
    expect((await answer).body).toBe("last");
    await finished;
  });
});
