import { getEventListeners } from "node:events";
import type { Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { EgressProblem } from "../../src/egress/destination.js";
import { Dialer, type DialerOptions } from "../../src/egress/dialer.js";
import { EgressPolicy } from "../../src/egress/egress-policy.js";
import { parseUpstreamProxy } from "../../src/egress/upstream-proxy.js";
import { echo, patterns, read, silent, tcpServer } from "../support/egress-proxy.js";

const policy = new EgressPolicy(
  { internetAccess: true },
  { allowPrivate: patterns("127.0.0.1", "::1"), deny: patterns("9.9.9.9") },
);
const never = new AbortController().signal;
async function server(handle: (socket: Socket) => void = echo, host = "127.0.0.1", port = 0) {
  const made = await tcpServer(handle, host, port);
  onTestFinished(() => made[Symbol.asyncDispose]());
  return made;
}

function dialer(options: Partial<DialerOptions> = {}) {
  const asked: string[] = [];
  let lacks = 0;
  const { resolve = async () => ["127.0.0.1"], lack = async () => undefined, ...more } = options;
  const made = new Dialer({
    resolve: async (name) => {
      asked.push(name);
      return resolve(name);
    },
    resolveAllowed: async (name, caller) => {
      asked.push(`${name} for ${caller}`);
      return resolve(name);
    },
    lack: async () => {
      lacks += 1;
      return lack();
    },
    ...more,
  });
  const dial = async (host: string, port: number, signal = never, rules = policy) => {
    const destination = { host, port };
    const request = { destination, policy: rules, protocol: "connect", caller: "one", signal } as const;
    const { socket, address } = await made.dial(request);
    onTestFinished(() => void socket.destroy());
    return { socket, address };
  };
  return { dial, asked, lacks: () => lacks };
}

const upstreamAt = (port: number) => parseUpstreamProxy(`http://127.0.0.1:${port}`);

/** Matches an EgressProblem of this kind with this message. */
const failure = (kind: EgressProblem["kind"], message: string) => {
  const problem = new EgressProblem(kind, message);
  return expect.objectContaining({ name: problem.name, kind, message });
};

const failing = (code: string) => async (): Promise<string[]> =>
  Promise.reject(Object.assign(new Error("no"), { code }));

describe("a connection to the internet", () => {
  test("is made to the address that was looked up, which happens once", async () => {
    const { port } = await server();
    const { dial, asked, lacks } = dialer();
    const { socket, address } = await dial("a.example", port);
    expect(address).toBe("127.0.0.1");
    socket.write("hello");
    expect(String(await read(socket))).toBe("hello");
    expect(asked).toEqual(["a.example"]);
    expect(lacks()).toBe(0);
  });

  test("to an address is made without looking anything up", async () => {
    const { port } = await server();
    const { dial, asked } = dialer();
    expect((await dial("127.0.0.1", port)).address).toBe("127.0.0.1");
    expect(asked).toEqual([]);
  });

  test.each([
    ["to IPv4 first, where both answer", true, "127.0.0.1"],
    ["to the address that answers", false, "::1"],
  ])("is made %s", { tags: ["ipv6"] }, async (_, both, expected) => {
    const six = await server(echo, "::1");
    if (both) await server(echo, "127.0.0.1", six.port);
    const { dial } = dialer({ resolve: async () => ["::1", "127.0.0.1"] });
    expect((await dial("a.example", six.port)).address).toBe(expected);
  });

  test("stays half open", async () => {
    const { port } = await server((socket) => socket.end("first"));
    const { socket } = await dialer().dial("a.example", port);
    expect(String(await read(socket))).toBe("first");
    await read(socket);
    expect(socket.writable).toBe(true);
  });

  test("is not ended by its signal once it is open", async () => {
    const { port } = await server();
    const controller = new AbortController();
    const { socket } = await dialer().dial("a.example", port, controller.signal);
    controller.abort();
    socket.write("still");
    expect(String(await read(socket))).toBe("still");
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  });
});

describe("a name that the operator allowed", () => {
  const rules = (...allowed: string[]) =>
    new EgressPolicy({ internetAccess: true }, { allowPrivate: patterns(...allowed), deny: [] });

  test.each([
    ["by its name", "a.corp.test", ["a.corp.test for one"]],
    ["with all below one", "*.corp.test", ["a.corp.test for one"]],
    ["with everything", "*", ["a.corp.test"]],
    ["by its address", "127.0.0.1", ["a.corp.test"]],
  ])("%s is looked up as the machine's programs do only if it was named", async (_, allowed, expected) => {
    const { port } = await server();
    const { dial, asked } = dialer();
    await dial("a.corp.test", port, never, rules(allowed));
    expect(asked).toEqual(expected);
  });

  test("is still refused where the sandbox's own lists or the operator's refuse its address", async () => {
    const operator = { allowPrivate: patterns("a.corp.test"), deny: patterns("127.0.0.0/8") };
    const refusing = new EgressPolicy({ internetAccess: true }, operator);
    await expect(dialer().dial("a.corp.test", 80, never, refusing)).rejects.toThrow(/--egress-deny/);
  });

  test.each(["host.docker.internal", "host.containers.internal", "localhost"])(
    "%s is the machine's own loopback, as far as its operator allowed it",
    async (host) => {
      const { port } = await server();
      const { dial, asked } = dialer();
      for (const allowed of [`127.0.0.1:${port}`, `localhost:${port}`, `${host}:${port}`, "127.0.0.0/8"])
        expect((await dial(host, port, never, rules(allowed))).address).toBe("127.0.0.1");
      const refused = `^${host}:1 is not on the public internet \\(127.0.0.0/8: Loopback\\)\\..* --egress-allow-private ${host}:1\\.$`;
      await expect(dial(host, 1, never, rules(`127.0.0.1:${port}`))).rejects.toThrow(new RegExp(refused));
      expect(asked).toEqual([]);
    },
  );
});

describe("no connection to the internet is made", () => {
  const unknown = failure(
    "unresolvable",
    "The name a.example has no address. Names of this machine's own network are looked up only if its operator allows them with --egress-allow-private a.example:80.",
  );

  test.each([
    ["ETIMEOUT", failure("timeout", "The name servers of this machine did not resolve a.example in time.")],
    ["EAI_AGAIN", failure("timeout", "The name servers of this machine did not resolve a.example in time.")],
    ["ENOTFOUND", unknown],
    ["ENODATA", unknown],
    ["ESERVFAIL", failure("unresolvable", "The name a.example could not be looked up (ESERVFAIL).")],
  ])("to a name whose lookup fails with %s", async (code, expected) => {
    await expect(dialer({ resolve: failing(code) }).dial("a.example", 80)).rejects.toEqual(expected);
  });

  test("to a name that has no address", async () => {
    await expect(dialer({ resolve: async () => [] }).dial("a.example", 80)).rejects.toEqual(unknown);
  });

  test("to where nothing listens", async () => {
    const { port, ...listening } = await server();
    await listening[Symbol.asyncDispose]();
    await expect(dialer().dial("a.example", port)).rejects.toEqual(
      failure("unreachable", `a.example:${port} could not be reached (ECONNREFUSED).`),
    );
  });

  test("to what the policy refuses", async () => {
    const { dial, asked } = dialer({ resolve: async () => ["9.9.9.9"] });
    await expect(dial("a.example", 80)).rejects.toMatchObject({ kind: "refused" });
    await expect(dial("10.0.0.1", 80)).rejects.toMatchObject({ kind: "refused" });
    expect(asked).toEqual(["a.example"]);
  });

  test("for a caller that has gone", async () => {
    const reason = new Error("enough");
    const { dial, lacks } = dialer();
    await expect(dial("127.0.0.1", 9, AbortSignal.abort(reason))).rejects.toBe(reason);
    const controller = new AbortController();
    const upstream = await server(silent);
    const { dial: through } = dialer({ upstreamProxy: upstreamAt(upstream.port), resolve: async () => [] });
    const waiting = through("a.example", 80, controller.signal).catch((error: unknown) => error);
    await expect.poll(() => upstream.connections.size).toBe(1);
    controller.abort(reason);
    expect(await waiting).toBe(reason);
    await expect.poll(() => upstream.connections.size).toBe(0);
    expect(lacks()).toBe(0);
  });
});

describe("the lack of a network is given as the reason why a connection fails, for", () => {
  const lack = async () => ({ message: "There is none:", isSilent: false });

  test.each([
    ["a name that was not resolved", "a.example", failing("ENOTFOUND"), "unresolvable", true],
    ["a name that was not resolved in time", "a.example", failing("ETIMEOUT"), "timeout", true],
    ["an address that is not reached", "a.example", undefined, "unreachable", true],
    ["a name of its own network", "a.example", async () => ["10.0.0.1"], "refused", true],
  ] as const)("%s", async (_, host, resolve, kind, explained) => {
    const { port, ...listening } = await server();
    await listening[Symbol.asyncDispose]();
    const { dial } = dialer({ lack, ...(resolve && { resolve }) });
    const error = await dial(host, port).catch((reason: unknown) => reason as EgressProblem);
    expect(error).toMatchObject({ kind });
    expect((error as EgressProblem).message.startsWith("There is none: ")).toBe(explained);
    expect((error as EgressProblem).message.length).toBeGreaterThan("There is none: ".length);
  });

  test("the lack of a network is not given for refused addresses, this machine's own, nor behind an upstream proxy", async () => {
    const { dial, lacks } = dialer({ lack });
    await expect(dial("10.0.0.1", 80)).rejects.toMatchObject({
      message: expect.stringMatching(/^10\.0\.0\.1:80/),
    });
    const { port, ...listening } = await server();
    await listening[Symbol.asyncDispose]();
    for (const host of ["127.0.0.1", "localhost", "host.docker.internal"])
      await expect(dial(host, port)).rejects.toEqual(
        failure("unreachable", `${host}:${port} could not be reached (ECONNREFUSED).`),
      );
    const behind = dialer({ upstreamProxy: upstreamAt(port), resolve: async () => [] });
    await expect(behind.dial("a.example", 80)).rejects.toEqual(
      failure("unreachable", "The upstream proxy of this machine could not be reached (ECONNREFUSED)."),
    );
    expect(lacks()).toBe(0);
  });
});

describe("with an upstream proxy", () => {
  /** A proxy that answers every CONNECT with `said`, and then sends back what it receives. */
  async function proxy(said: string, userinfo = "", host = "127.0.0.1") {
    const heads: string[] = [];
    const { port, connections } = await server((socket) => {
      socket.once("data", (head) => {
        heads.push(String(head));
        if (said === "") return void socket.end();
        socket.write(said);
        echo(socket);
      });
    }, host);
    const authority = host.includes(":") ? `[${host}]` : host;
    return {
      heads,
      connections,
      upstreamProxy: parseUpstreamProxy(`http://${userinfo}${authority}:${port}`),
    };
  }
  const nothing = async (): Promise<string[]> => [];
  const accepted = "HTTP/1.1 200 OK\r\n\r\n";

  test.each([
    ["a name that is unknown here", "a.example", failing("ENOTFOUND"), "a.example:443"],
    ["an address", "203.0.114.1", failing("ENOTFOUND"), "203.0.114.1:443"],
    ["an address of IPv6", "2606:4700::1", failing("ENOTFOUND"), "[2606:4700::1]:443"],
    ["a name that is known here", "a.example", async () => ["203.0.114.1"], "a.example:443"],
  ])("a connection to %s is requested in that spelling", async (_, host, resolve, authority) => {
    const { heads, upstreamProxy } = await proxy(`${accepted}early,`);
    const { socket, address } = await dialer({ resolve, upstreamProxy }).dial(host, 443);
    expect(address).toBeUndefined();
    expect(heads[0]).toMatch(new RegExp(`^CONNECT ${authority.replace(/[[\].]/g, "\\$&")} HTTP/1\\.1\r\n`));
    expect(heads[0]).toMatch(new RegExp(`^host: ${authority.replace(/[[\].]/g, "\\$&")}\r$`, "im"));
    expect(heads[0]).not.toMatch(/proxy-authorization/i);
    expect(String(await read(socket))).toBe("early,");
    socket.write("hello");
    expect(String(await read(socket))).toBe("hello");
  });

  test("credentials are taken from the proxy's URL", async () => {
    const { heads, upstreamProxy } = await proxy(accepted, "me%40home:pass%20word@");
    await dialer({ upstreamProxy, resolve: nothing }).dial("a.example", 443);
    const credentials = Buffer.from("me@home:pass word").toString("base64");
    expect(heads[0]).toMatch(new RegExp(`^proxy-authorization: Basic ${credentials}\r$`, "im"));
  });

  test("that answers with another 2xx, a tunnel is open", async () => {
    const { upstreamProxy } = await proxy("HTTP/1.1 201 Created\r\n\r\n");
    const { socket } = await dialer({ upstreamProxy, resolve: nothing }).dial("a.example", 443);
    socket.write("hello");
    expect(String(await read(socket))).toBe("hello");
  });

  test("whose address is an IPv6 address, connections are made", { tags: ["ipv6"] }, async () => {
    const { upstreamProxy } = await proxy(accepted, "", "::1");
    await dialer({ upstreamProxy, resolve: nothing }).dial("a.example", 443);
  });

  test.each([
    [
      "refuses",
      "HTTP/1.1 403 No\r\n\r\n",
      /^The upstream proxy of this machine refused a\.example:443 \(403\)\.$/,
    ],
    [
      "answers something else than HTTP",
      "hello\r\n\r\n",
      /^The upstream proxy of this machine did not answer in HTTP\.$/,
    ],
    [
      "closes the connection",
      "",
      /^The upstream proxy of this machine closed the connection before it answered\.$/,
    ],
    [
      "wants a password",
      "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=x\r\n\r\n",
      /wants a user name and password \(407\).*--egress-upstream-proxy/,
    ],
    [
      "signs in otherwise",
      "HTTP/1.1 407 No\r\nProxy-Authenticate: Negotiate\r\nProxy-Authenticate: NTLM\r\n\r\n",
      /does not take a user name and password \(407 Negotiate, NTLM\)/,
    ],
  ])("that %s, the error says so", async (_, said, message) => {
    const { upstreamProxy, connections } = await proxy(said);
    await expect(dialer({ upstreamProxy, resolve: nothing }).dial("a.example", 443)).rejects.toMatchObject({
      kind: "unreachable",
      message: expect.stringMatching(message),
    });
    await expect.poll(() => connections.size).toBe(0);
  });

  test("the caller's signal does not end a connection that is open", async () => {
    const { upstreamProxy } = await proxy(accepted);
    const controller = new AbortController();
    const { socket } = await dialer({ upstreamProxy, resolve: nothing }).dial(
      "a.example",
      443,
      controller.signal,
    );
    controller.abort();
    socket.write("still");
    expect(String(await read(socket))).toBe("still");
  });

  test.each([
    ["an address", "127.0.0.1", "127.0.0.1"],
    ["a name", "a.corp.test", "a.corp.test"],
    ["everything", "a.corp.test", "*"],
    ["the machine itself", "host.docker.internal", "127.0.0.1"],
  ])(
    "connections to the machine's own network that its operator allowed are direct: %s",
    async (_, host, allowed) => {
      const { heads, upstreamProxy } = await proxy(accepted);
      const { port } = await server();
      const rules = new EgressPolicy({ internetAccess: true }, { allowPrivate: patterns(allowed), deny: [] });
      const { dial } = dialer({ upstreamProxy });
      expect((await dial(host, port, never, rules)).address).toBe("127.0.0.1");
      expect(heads).toEqual([]);
    },
  );

  test("what everything is allowed to reach goes through it if it is public", async () => {
    const { heads, upstreamProxy } = await proxy(accepted);
    const rules = new EgressPolicy({ internetAccess: true }, { allowPrivate: patterns("*"), deny: [] });
    await dialer({ upstreamProxy, resolve: async () => ["203.0.114.1"] }).dial(
      "a.example",
      443,
      never,
      rules,
    );
    expect(heads).toHaveLength(1);
  });

  test.each([
    ["that nobody answers", async () => undefined],
    ["of name servers that are known to be silent", async () => ({ message: "", isSilent: true })],
  ])("a look-up %s is not waited for", async (_, lack) => {
    const { upstreamProxy } = await proxy(accepted);
    const resolve = (): Promise<string[]> => new Promise(() => undefined);
    const { dial } = dialer({ upstreamProxy, resolve, lack });
    expect((await dial("a.example", 443)).address).toBeUndefined();
  });

  test("a destination whose address is refused is not requested from the proxy", async () => {
    const { heads, upstreamProxy } = await proxy(accepted);
    const { dial } = dialer({ upstreamProxy, resolve: async () => ["10.0.0.1"] });
    await expect(dial("a.example", 443)).rejects.toMatchObject({ kind: "refused" });
    expect(heads).toEqual([]);
  });

  test("a connection that breaks later ends, and nothing else does", async () => {
    const { upstreamProxy } = await proxy(accepted);
    const { socket } = await dialer({ upstreamProxy, resolve: nothing }).dial("a.example", 443);
    socket.emit("error", new Error("reset"));
    expect(socket.destroyed).toBe(true);
  });
});
