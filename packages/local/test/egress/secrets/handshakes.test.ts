// @module-tag openssl
import { once } from "node:events";
import { connect } from "node:tls";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { EgressTelling } from "../../../src/egress/sandbox-egress.js";
import { text } from "../../support/egress-proxy.js";
import { Origin, originName, SecretProxy, secretValue } from "../../support/secret-origin.js";

let origin: Origin;
let proxy: SecretProxy;

beforeEach(async () => {
  origin = await Origin.start();
  proxy = await SecretProxy.start(origin, { TOKEN: { hosts: [origin.at] } });
});

afterEach(async () => {
  await proxy[Symbol.asyncDispose]();
  await origin[Symbol.asyncDispose]();
});

test("a program that speaks HTTP/1.0 alone is served", async () => {
  const secured = await proxy.secured(origin.at, { alpn: ["http/1.0"] });
  expect(secured.alpnProtocol).toBe("http/1.0");
  secured.write(
    `GET / HTTP/1.0\r\nhost: ${origin.at}\r\nauthorization: Bearer ${proxy.placeholder()}\r\n\r\n`,
  );
  expect(await text(secured)).toMatch(/^HTTP\/1\.1 200 [\s\S]*\r\n\r\nok$/);
  expect(origin.received[0]?.headers.authorization).toBe(`Bearer ${secretValue}`);
});

test("a program that offers no HTTP is refused for that, and not for the server", async () => {
  await expect(proxy.secured(origin.at, { alpn: ["mqtt"] })).rejects.toThrow();
  await expect
    .poll(() => proxy.proxy.egress.log.entries.at(-1)?.reason)
    .toContain("The program speaks no HTTP within TLS");
});

test("a program that leaves before its handshake is waited for no longer", async () => {
  const socket = await proxy.proxy.tunnel(origin.at);
  expect(proxy.proxy.egress.open).toBe(2);
  socket.end();
  await expect.poll(() => proxy.proxy.egress.open, { timeout: 5000 }).toBe(0);
});

test("a program whose handshake fails is waited for no longer", async () => {
  const socket = await proxy.proxy.tunnel(origin.at);
  const secured = connect({ socket, servername: originName, ca: origin.authority.pem });
  await new Promise((resolve) => secured.once("error", resolve));
  await expect.poll(() => proxy.proxy.egress.open, { timeout: 5000 }).toBe(0);
});

test("a host that speaks HTTP/2 alone, or whose program does, is asked about once", async () => {
  await using server = await Origin.start({ alpn: ["h2"] });
  for (const { at, authority, port } of [server, origin]) {
    const told: EgressTelling[] = [];
    await using other = await SecretProxy.start(
      { authority, port },
      { TOKEN: { hosts: [at] } },
      { rules: { internetAccess: true, ask: true }, onTelling: (_, telling) => told.push(telling) },
    );
    const opening = other.http2(at);
    await expect.poll(() => told.length).toBe(1);
    other.proxy.egress.decide({ host: originName, port }, true);
    const session = await opening;
    const stream = session.request({ authorization: `Bearer ${other.placeholder()}` });
    await once(stream, "response");
    expect(told).toEqual([{ type: "egress.held", host: originName, port }]);
    session.destroy();
  }
});
