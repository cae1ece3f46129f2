// @module-tag openssl
import { once } from "node:events";
import { createServer as plainServer, type RequestListener } from "node:http";
import { createServer as securedServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { CertificateAuthority } from "../../src/egress/secrets/certificate-authority.js";
import { originName, SecretProxy } from "../support/secret-origin.js";

const length = 20_000_000;

/** Answers when the sender waits, and reads the rest later. */
const readsOn: RequestListener = (request, response) => {
  setTimeout(() => response.writeHead(413).end("early"), 300);
  setTimeout(() => request.resume(), 600);
};

/** Answers, and reads nothing more. Its answer may be lost with what is on the way to it: the proxy then answers in its place. */
const closes: RequestListener = (_, response) => {
  response.writeHead(413, { connection: "close" }).end("early");
};

async function start(handle: RequestListener, isSecured: boolean) {
  const authority = new CertificateAuthority();
  const server = isSecured
    ? securedServer({ SNICallback: (name, done) => done(null, authority.contextFor(name)) }, handle)
    : plainServer(handle);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const at = `${originName}:${port}`;
  const proxy = await SecretProxy.start({ authority, port }, { TOKEN: { hosts: [at], paths: ["/early"] } });
  onTestFinished(async () => {
    await proxy[Symbol.asyncDispose]();
    server.closeAllConnections();
    server.close();
  });
  return { proxy, at };
}

/** Sends a whole request, and reads only then. */
async function lateReader(socket: Socket, target: string, headers: readonly string[]): Promise<string> {
  const broken = new Promise<never>((_, reject) => socket.once("error", reject));
  broken.catch(() => undefined);
  socket.write([`POST ${target} HTTP/1.1`, ...headers, `content-length: ${length}`, "", ""].join("\r\n"));
  for (let sent = 0; sent < length; sent += 50_000)
    if (!socket.write(Buffer.alloc(50_000))) await Promise.race([once(socket, "drain"), broken]);
  const [piece] = await Promise.race([once(socket, "data"), broken]);
  return String(piece);
}

test.each<[string, RequestListener, string, RegExp]>([
  ["whose server reads on", readsOn, "/early", /^HTTP\/1\.1 413 /],
  ["whose server closes the connection", closes, "/early", /^HTTP\/1\.1 (?:413|502) /],
  ["that is refused", closes, "/other", /^HTTP\/1\.1 403 /],
])("a program that sends a long request %s gets the early answer", async (_, handle, path, status) => {
  const { proxy, at } = await start(handle, true);
  const socket = await proxy.secured(at);
  const authorization = `authorization: Bearer ${proxy.placeholder()}`;
  expect(await lateReader(socket, path, [`host: ${at}`, authorization])).toMatch(status);
});

test.each<[string, RequestListener, string, RegExp]>([
  ["whose server reads on", readsOn, "", /^HTTP\/1\.1 413 /],
  ["whose server closes the connection", closes, "", /^HTTP\/1\.1 (?:413|502) /],
  ["that is refused", closes, "127.0.0.1:1", /^HTTP\/1\.1 403 /],
])("over plain HTTP, a long request %s gets it too", async (_, handle, host, status) => {
  const { proxy, at } = await start(handle, false);
  const socket = await proxy.proxy.connect();
  const target = `http://${host || at}/`;
  expect(await lateReader(socket, target, [`host: ${at}`])).toMatch(status);
});
