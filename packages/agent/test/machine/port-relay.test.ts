import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RunningAgent } from "../support/running-agent.js";

let agent: RunningAgent;
beforeAll(async () => {
  agent = await RunningAgent.start();
});
afterAll(() => agent[Symbol.asyncDispose]());

describe("a port of the sandbox", () => {
  test.each(["127.0.0.1", "0.0.0.0", "::1", "::"])(
    "is reached where a server listens on %s",
    async (host) => {
      await using server = await Listening.start(host, (socket) => socket.pipe(socket));
      const client = ask(`127.0.0.1:${server.port}`, { early: "early," });
      const answer = text(client);
      client.end("late");
      expect(await answer).toBe("HTTP/1.1 200 Connection Established\r\n\r\nearly,late");
    },
  );

  test("is left in one direction at a time", async () => {
    const speakLast = (socket: Socket): void => {
      socket.resume().on("end", () => socket.end("the last word"));
    };
    await using server = await Listening.start("127.0.0.1", speakLast, { allowHalfOpen: true });
    const client = ask(`127.0.0.1:${server.port}`);
    client.end();
    expect(await text(client)).toMatch(/the last word$/);
  });

  test("is given up when either side breaks off", async () => {
    const sockets: Socket[] = [];
    await using server = await Listening.start("127.0.0.1", (socket) => {
      sockets.push(socket.on("error", () => socket.destroy()).resume());
    });
    const client = ask(`127.0.0.1:${server.port}`);
    await once(client, "data");
    client.destroy();
    await expect.poll(() => sockets[0]?.readableEnded || sockets[0]?.closed).toBe(true);
  });

  test("that nothing listens on is not found, and said so", async () => {
    const server = await Listening.start("127.0.0.1", () => undefined);
    const { port } = server;
    await server[Symbol.asyncDispose]();
    const answer = await text(ask(`127.0.0.1:${port}`));
    expect(answer).toMatch(/^HTTP\/1\.1 404 Not Found\r\n/);
    expect(answer).toContain(`"code":"PORT_NOT_LISTENING"`);
    expect(answer).toContain(`port ${port}`);
  });

  test("takes a bounded number of connections, and more once some have ended", async () => {
    await using server = await Listening.start("127.0.0.1", (socket) => socket.resume());
    const target = `127.0.0.1:${server.port}`;
    const open: Socket[] = [];
    let last = "";
    while (open.length < 300 && !last.includes(" 429 ")) {
      const client = ask(target);
      open.push(client);
      last = String((await once(client, "data"))[0]);
    }
    expect(last).toContain("RESOURCE_EXHAUSTED");
    for (const client of open) client.destroy();
    await expect.poll(async () => String((await once(ask(target), "data"))[0])).toContain(" 200 ");
  });
});

describe("a connection is refused", () => {
  test.each([
    ["without a token", "127.0.0.1:80", "", 401, "AUTHENTICATION_REQUIRED"],
    ["with a token that is none", "127.0.0.1:80", "Bearer x.y.z", 401, "INVALID_TOKEN"],
    ["to another machine", "10.0.0.1:80", undefined, 400, "INVALID_REQUEST"],
    ["to a name", "example.com:80", undefined, 400, "INVALID_REQUEST"],
    ["to no port", "127.0.0.1:0", undefined, 400, "INVALID_REQUEST"],
    ["to a port that there is not", "127.0.0.1:65536", undefined, 400, "INVALID_REQUEST"],
    ["to the relay of the proxy", "127.0.0.1:3128", undefined, 403, "PORT_NOT_ALLOWED"],
    ["to the relay of the SOCKS proxy", "localhost:1080", undefined, 403, "PORT_NOT_ALLOWED"],
  ])("%s", async (_, target, authorization, status, code) => {
    const answer = await text(ask(target, { authorization }));
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(answer).toContain(`"code":"${code}"`);
  });
});

/** Connects to the agent and asks it to relay to `target`. `early` is data that is sent together with this request. */
function ask(target: string, options: { authorization?: string | undefined; early?: string } = {}): Socket {
  const authorization = options.authorization ?? `Bearer ${agent.token}`;
  const client = connect({ path: agent.socket, allowHalfOpen: true });
  client.write(
    `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\nAuthorization: ${authorization}\r\n\r\n${options.early ?? ""}`,
  );
  return client;
}

class Listening implements AsyncDisposable {
  readonly #sockets = new Set<Socket>();

  private constructor(private readonly server: Server) {
    server.on("connection", (socket) => this.#sockets.add(socket));
  }

  static async start(
    host: string,
    serve: (socket: Socket) => void,
    { allowHalfOpen = false } = {},
  ): Promise<Listening> {
    const server = createServer({ allowHalfOpen }, serve);
    const listening = new Listening(server);
    await once(server.listen(0, host), "listening");
    return listening;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await once(this.server.close(), "close");
  }
}
