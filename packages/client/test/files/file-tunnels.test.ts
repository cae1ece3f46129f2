import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { buffer } from "node:stream/consumers";
import { describe, expect, onTestFinished, test } from "vitest";
import type { CallOptions, Files, SandboxClientOptions } from "../../src/index.js";
import { rejection, testClient } from "../support/clients.js";
import { wireSandbox, withSandbox } from "../support/sandbox-service.js";
import { json, scriptedServer } from "../support/scripted-server.js";

const large = new Uint8Array(1024 * 1024).map((_, index) => index % 251);
const small = large.subarray(0, 1000);

/** An agent that serves one file. `calls` records the requests, with "tunnel" or "outside" for how they came. */
interface FileAgent {
  url: string;
  calls: string[];
  /** The tunnels that are open. */
  tunnels: Set<Socket>;
  /** The number of answers that are being sent outside tunnels. */
  unfinished: number;
  content: Uint8Array;
}

type Upgrade = (tunnel: Socket, inside: Server) => void;

const accept: Upgrade = (tunnel, inside) => {
  const lines = ["HTTP/1.1 101 Switching Protocols", "Connection: Upgrade", "Upgrade: cloud-sandbox-files"];
  tunnel.write(`${lines.join("\r\n")}\r\n\r\n`);
  inside.emit("connection", tunnel);
};

async function fileAgent(upgrade: Upgrade, inside?: (request: IncomingMessage) => void): Promise<FileAgent> {
  const tunnels = new Set<Socket>();
  const agent: FileAgent = { url: "", calls: [], tunnels, unfinished: 0, content: large };
  const serve = async (way: string, request: IncomingMessage, response: ServerResponse): Promise<void> => {
    agent.calls.push(`${way} ${request.method} ${request.url}`);
    if (request.method === "GET") {
      response.end(agent.content);
      return;
    }
    agent.content = await buffer(request);
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ success: true, path: "/workspace/f", size: agent.content.length }));
  };
  const listener = createServer((request, response) => {
    agent.unfinished += 1;
    response.once("close", () => (agent.unfinished -= 1));
    void serve("outside", request, response);
  });
  const tunnelled = createServer((request, response) => {
    inside?.(request);
    // Ignore errors here: when a tunnel breaks, the test looks at what the client makes of it.
    serve("tunnel", request, response).catch(() => undefined);
  });
  listener.on("upgrade", (request, socket: Socket) => {
    agent.calls.push(`upgrade ${request.url} ${request.headers.authorization?.slice(0, 7)}`);
    tunnels.add(socket);
    socket.on("error", () => socket.destroy()).once("close", () => tunnels.delete(socket));
    upgrade(socket, tunnelled);
  });
  await once(listener.listen(0, "127.0.0.1"), "listening");
  onTestFinished(async () => {
    for (const tunnel of tunnels) tunnel.destroy();
    listener.closeAllConnections();
    await new Promise((resolve) => listener.close(resolve));
  });
  agent.url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  return agent;
}

const upgrade = "upgrade /files/tunnel Bearer ";
const upload = "POST /files/upload?path=f";
const download = "GET /files/download?path=f";

/**
 * The files of a sandbox after a first write, from which the client has learned that the agent offers tunnels.
 * `agent.calls` is empty again.
 */
async function knownToOffer(agent: FileAgent, options: SandboxClientOptions = {}) {
  const { files } = await withSandbox(agent.url, options);
  await files.write("f", large);
  expect(agent.calls).toContain(`outside ${upload}`);
  await expect.poll(() => agent.calls).toContain(upgrade);
  await expect.poll(() => agent.tunnels.size).toBe(0);
  agent.calls.length = 0;
  return files;
}

const calls = (agent: FileAgent): string[] => agent.calls.filter((call) => call !== upgrade);

test("a large file is sent through a tunnel, and later files too", async () => {
  const agent = await fileAgent(accept);
  const files = await knownToOffer(agent);
  await files.write("f", large);
  expect(Buffer.from(large).equals(agent.content)).toBe(true);
  expect(Buffer.from(large).equals(await files.readBytes("f"))).toBe(true);
  await files.write("f", small);
  expect(agent.calls[0]).toBe(upgrade);
  expect(calls(agent)).toEqual([`tunnel ${upload}`, `tunnel ${download}`, `tunnel ${upload}`]);
});

test("a file of unknown size is sent without a tunnel until one of them was large", async () => {
  const agent = await fileAgent(accept);
  const { files } = await withSandbox(agent.url);
  agent.content = small;
  await files.readBytes("f");
  await files.readBytes("f");
  expect(agent.calls).toEqual([`outside ${download}`, `outside ${download}`]);
  agent.content = large;
  await files.readBytes("f");
  await expect.poll(() => agent.calls).toContain(upgrade);
  await expect.poll(() => agent.tunnels.size).toBe(0);
  await files.readBytes("f");
  expect(calls(agent).at(-1)).toBe(`tunnel ${download}`);
});

describe("the first file, if it is very large,", () => {
  const veryLarge = Buffer.alloc(32 * 1024 * 1024, large);

  test("is sent through a tunnel", async () => {
    const agent = await fileAgent(accept);
    const { files } = await withSandbox(agent.url);
    await files.write("f", veryLarge);
    expect(veryLarge.equals(agent.content)).toBe(true);
    expect(agent.calls).toEqual([upgrade, upgrade, `tunnel ${upload}`]);
  });

  test("is received through a tunnel, and the answer that began to come without one is closed", async () => {
    const agent = await fileAgent(accept);
    agent.content = veryLarge;
    const { files } = await withSandbox(agent.url);
    expect(veryLarge.equals(await files.readBytes("f"))).toBe(true);
    expect(agent.calls).toEqual([`outside ${download}`, upgrade, upgrade, `tunnel ${download}`]);
    await expect.poll(() => agent.unfinished).toBe(0);
  });

  test.each<[string, Upgrade, ((request: IncomingMessage) => void)?]>([
    ["refused", (tunnel) => tunnel.end("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")],
    ["lost", accept, (request) => request.socket.destroy()],
  ])("comes without a tunnel that is %s, and is asked for once", async (_, open, inside) => {
    const agent = await fileAgent(open, inside);
    agent.content = veryLarge;
    const { files } = await withSandbox(agent.url, { retry: false });
    expect(veryLarge.equals(await files.readBytes("f"))).toBe(true);
    expect(agent.calls.filter((call) => call.startsWith("outside"))).toEqual([`outside ${download}`]);
  });

  test.each<[string, (files: Files, options: CallOptions) => Promise<unknown>]>([
    ["sent", (files, options) => files.write("f", veryLarge, options)],
    ["received", (files, options) => files.readBytes("f", options)],
  ])("can be aborted while it waits to be %s through a tunnel", async (_, transfer) => {
    const stopping = new AbortController();
    const agent = await fileAgent((tunnel) => {
      tunnel.resume().once("end", () => tunnel.end());
      stopping.abort();
    });
    agent.content = veryLarge;
    const { files } = await withSandbox(agent.url);
    const aborted = transfer(files, { signal: stopping.signal });
    expect(await rejection(aborted)).toMatchObject({ name: "AbortError" });
    expect(agent.calls.filter((call) => call.startsWith("tunnel"))).toEqual([]);
    await expect.poll(() => agent.unfinished).toBe(0);
  });
});

test("a tunnel is left when more bytes come through it than were asked for", async () => {
  const used: Socket[] = [];
  const agent = await fileAgent(accept, ({ socket }) => used.push(socket));
  const files = await knownToOffer(agent);
  for (const maxBytes of [large.length - 1, 1]) {
    const thrown = await rejection(files.readBytes("f", { maxBytes }));
    expect(thrown).toMatchObject({ code: "FILE_TOO_LARGE" });
    await expect.poll(() => used.at(-1)?.destroyed).toBe(true);
  }
  const read = await files.readBytes("f", { maxBytes: large.length });
  expect(Buffer.from(large).equals(read)).toBe(true);
  expect(calls(agent)).toEqual(Array(3).fill(`tunnel ${download}`));
});

test("no tunnel is opened for small files, or to servers that do not state their isolation", async () => {
  const agent = await fileAgent(accept);
  await (await withSandbox(agent.url)).files.write("f", small);
  const foreign = await withSandbox(agent.url, {}, { isolation: undefined });
  await foreign.files.write("f", large);
  expect(agent.calls).toEqual([`outside ${upload}`, "outside POST /files/upload"]);
});

test.each<[string, Upgrade]>([
  ["refuses it", (tunnel) => tunnel.end("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")],
  ["hangs up", (tunnel) => tunnel.destroy()],
  ["does not answer", (tunnel) => tunnel.resume().once("end", () => tunnel.end())],
])(
  "no call waits for a server that %s, and the server is asked for a tunnel only once in a while",
  async (_, refuse) => {
    const agent = await fileAgent(refuse);
    const { files } = await withSandbox(agent.url);
    await files.write("f", large, { requestTimeoutSeconds: 2.5 });
    expect(Buffer.from(large).equals(agent.content)).toBe(true);
    await expect.poll(() => agent.calls).toContain(upgrade);
    await files.write("f", large);
    await expect.poll(() => agent.tunnels.size).toBe(0);
    await files.write("f", large);
    expect(calls(agent)).toEqual([`outside ${upload}`, `outside ${upload}`, `outside ${upload}`]);
    expect(agent.calls.filter((call) => call === upgrade)).toHaveLength(1);
  },
);

test("a file is sent without a tunnel when a tunnel is refused later", async () => {
  let isOffered = true;
  const agent = await fileAgent((tunnel, inside) => (isOffered ? accept(tunnel, inside) : tunnel.destroy()));
  const files = await knownToOffer(agent);
  isOffered = false;
  await files.write("f", large);
  await files.write("f", large);
  expect(agent.calls).toEqual([upgrade, `outside ${upload}`, `outside ${upload}`]);
});

test("a file that a tunnel loses is sent once more without one", async () => {
  const agent = await fileAgent(accept, (request) => request.socket.destroy());
  const files = await knownToOffer(agent, { retry: false });
  await files.write("f", large);
  expect(Buffer.from(large).equals(agent.content)).toBe(true);
  expect(calls(agent)).toEqual([`tunnel ${upload}`, `outside ${upload}`]);
});

test("an aborted call is not sent again without a tunnel", async () => {
  const stopping = new AbortController();
  const agent = await fileAgent(accept, () => stopping.abort());
  const files = await knownToOffer(agent);
  const aborted = files.write("f", large, { signal: stopping.signal });
  expect(await rejection(aborted)).toMatchObject({ name: "AbortError" });
  expect(calls(agent)).toEqual([`tunnel ${upload}`]);
});

test("a call whose progress function throws is not sent again without a tunnel", async () => {
  const agent = await fileAgent(accept);
  const files = await knownToOffer(agent, { retry: false });
  const local = join(await mkdtemp(join(tmpdir(), "tunnelled-")), "file");
  onTestFinished(() => rm(dirname(local), { recursive: true }));
  await writeFile(local, Buffer.alloc(8 * 1024 * 1024));
  let told = 0;
  const onProgress = (): void => {
    told += 1;
    throw new Error("not I");
  };
  await rejection(files.upload(local, "f", { onProgress }));
  expect(told).toBe(1);
  expect(calls(agent).filter((call) => call.startsWith("outside"))).toEqual([]);
});

test("closing a client closes its tunnels, and waits for none that is being opened", async () => {
  let isOffered = true;
  const silent: Upgrade = (tunnel) => tunnel.resume().once("end", () => tunnel.end());
  const agent = await fileAgent((tunnel, inside) => (isOffered ? accept : silent)(tunnel, inside));
  for (const offered of [true, false]) {
    isOffered = offered;
    const controlPlane = await scriptedServer((_, response) => json(response, 200, wireSandbox(agent.url)));
    const client = testClient(controlPlane.url);
    const { files } = await client.sandboxes.get("abc");
    await files.write("f", large);
    await expect.poll(() => agent.calls).toContain(upgrade);
    if (offered) await expect.poll(() => agent.tunnels.size).toBe(0);
    await files.write("f", large);
    expect(agent.tunnels.size).toBe(1);
    const began = performance.now();
    await client.close();
    expect(performance.now() - began).toBeLessThan(10_000);
    await expect.poll(() => agent.tunnels.size).toBe(0);
    agent.calls.length = 0;
  }
});
