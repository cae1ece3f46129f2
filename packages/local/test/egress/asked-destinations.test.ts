import { expect, test } from "vitest";
import type { EgressTelling } from "../../src/egress/sandbox-egress.js";
import { EgressProxy, echo, patterns, read, tcpServer } from "../support/egress-proxy.js";

const ask = { internetAccess: true, ask: true } as const;

/** A proxy that asks about a server, and what it tells. */
async function asking(rules: Parameters<typeof EgressProxy.start>[0] = {}) {
  const server = await tcpServer(echo);
  const told: EgressTelling[] = [];
  const proxy = await EgressProxy.start({
    allowPrivate: [`127.0.0.1:${server.port}`],
    rules: ask,
    onTelling: (_, telling) => told.push(telling),
    ...rules,
  });
  const destination = { host: "127.0.0.1", port: server.port };
  return {
    proxy,
    told,
    destination,
    authority: `127.0.0.1:${server.port}`,
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

test("a connection that no list names waits, is told once, and goes on when it is allowed", async () => {
  await using asked = await asking();
  const { proxy, destination, told } = asked;
  const waiting = [proxy.tunnel(asked.authority), proxy.tunnel(asked.authority)];
  await expect.poll(() => told).toEqual([{ type: "egress.held", ...destination }]);
  await expect
    .poll(() => proxy.egress.log.entries.map(({ decision }) => decision))
    .toEqual(["pending", "pending"]);
  expect(proxy.egress.decide(destination, true)).toBe(true);
  const [first] = await Promise.all(waiting);
  first?.write("through");
  expect(String(first && (await read(first)))).toBe("through");
  expect(proxy.egress.log.entries[0]).toMatchObject({ decision: "allowed", rule: "ask" });
  // The answer was for those who waited.
  void proxy.tunnel(asked.authority).catch(() => undefined);
  await expect.poll(() => told.length).toBe(2);
});

test("a connection that is refused says so, and a decision about what nobody waits for changes nothing", async () => {
  await using asked = await asking();
  const { proxy, destination, told } = asked;
  expect(proxy.egress.decide(destination, true)).toBe(false);
  const waiting = proxy.tunnel(asked.authority);
  await expect.poll(() => told.length).toBe(1);
  proxy.egress.decide(destination, false);
  await expect(waiting).rejects.toThrow("403");
  expect(told.at(-1)).toMatchObject({ type: "egress.refused", ...destination });
});

test("what the lists name is not asked, and new rules answer who waits", async () => {
  await using asked = await asking();
  const { proxy, told, authority } = asked;
  const waiting = proxy.tunnel(authority);
  await expect.poll(() => told.length).toBe(1);
  proxy.gateway.setRules("sandbox", { ...ask, allow: patterns(authority) });
  await waiting;
  await proxy.tunnel(authority);
  proxy.gateway.setRules("sandbox", { ...ask, deny: patterns(authority) });
  await expect(proxy.tunnel(authority)).rejects.toThrow("egress.deny");
  expect(told.filter(({ type }) => type === "egress.held")).toHaveLength(1);
  expect(proxy.egress.log.entries.map(({ rule }) => rule)).toEqual([
    `allow ${authority}`,
    `allow ${authority}`,
    `deny ${authority}`,
  ]);
});

test("32 destinations wait, and another one is refused", async () => {
  await using asked = await asking({ resolve: async () => [] });
  const { proxy, told } = asked;
  const clients = await Promise.all(Array.from({ length: 32 }, () => proxy.connect()));
  for (const [index, client] of clients.entries())
    client.write(`CONNECT host${index}.test:443 HTTP/1.1\r\n\r\n`);
  await expect.poll(() => told.length).toBe(32);
  expect(await proxy.say("CONNECT other.test:443 HTTP/1.1\r\n\r\n")).toMatch(/403 .*32 others wait/);
});

test("refusals of one destination are told once, and 60 of many", async () => {
  await using asked = await asking({ rules: { internetAccess: true, allow: [] } });
  const { proxy, told } = asked;
  for (let count = 0; count < 3; count += 1) await proxy.say("CONNECT same.test:443 HTTP/1.1\r\n\r\n");
  expect(told).toHaveLength(1);
  for (let count = 0; count < 70; count += 1)
    await proxy.say(`CONNECT host${count}.test:443 HTTP/1.1\r\n\r\n`);
  expect(told).toHaveLength(60);
});
