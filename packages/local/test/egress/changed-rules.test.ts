import { once } from "node:events";
import { expect, test } from "vitest";
import { EgressPolicy } from "../../src/egress/egress-policy.js";
import { EgressProxy, echo, patterns, tcpServer } from "../support/egress-proxy.js";

test("open connections that new rules refuse are closed, and others go on", async () => {
  await using server = await tcpServer(echo);
  await using other = await tcpServer(echo);
  const allowPrivate = [`127.0.0.1:${server.port}`, `127.0.0.1:${other.port}`];
  await using proxy = await EgressProxy.start({ allowPrivate });
  const [kept, cut] = [
    await proxy.tunnel(`127.0.0.1:${server.port}`),
    await proxy.tunnel(`127.0.0.1:${other.port}`),
  ];
  const ended = once(cut.resume(), "end");
  proxy.gateway.setRules("sandbox", { internetAccess: true, allow: patterns(`127.0.0.1:${server.port}`) });
  await ended;
  kept.write("still there");
  expect(String((await once(kept, "data"))[0])).toBe("still there");
  await expect(proxy.tunnel(`127.0.0.1:${other.port}`)).rejects.toThrow("egress.allow");
  await expect
    .poll(() => proxy.egress.log.entries[1])
    .toMatchObject({
      decision: "allowed",
      isOpen: false,
      reason: expect.stringMatching(/^Closed, because the rules were changed: 127\.0\.0\.1:\d+ is not on/),
    });
});

test("a connection that was being made when the rules changed is refused", async () => {
  await using server = await tcpServer(echo);
  let found: (addresses: readonly string[]) => void = () => undefined;
  const asked: string[] = [];
  await using proxy = await EgressProxy.start({
    allowPrivate: [`slow.test:${server.port}`],
    resolve: (name) => {
      asked.push(name);
      return new Promise((resolve) => {
        found = (addresses) => resolve([...addresses]);
      });
    },
  });
  const said = proxy.say(`CONNECT slow.test:${server.port} HTTP/1.1\r\n\r\n`);
  await expect.poll(() => asked).toEqual(["slow.test"]);
  proxy.egress.policy = new EgressPolicy(
    { internetAccess: true, allow: [] },
    { allowPrivate: patterns(`slow.test:${server.port}`), deny: [] },
  );
  found(["127.0.0.1"]);
  expect(await said).toMatch(/^HTTP\/1\.1 403 slow\.test/);
});
