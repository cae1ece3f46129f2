import { once } from "node:events";
import { createServer, get, type Server } from "node:http";
import { text } from "node:stream/consumers";
import { afterEach, expect, test } from "vitest";
import { FrontDoor } from "../../src/cluster/front-door.js";
import { listen } from "../../src/gateway/listening.js";

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** An HTTP server that says its name, and its address as servers announce it. */
async function named(name: string): Promise<{ server: Server; address: string }> {
  const server = createServer((_, response) => response.end(name));
  const url = await listen(server, "127.0.0.1", 0);
  ends.push(() => server.close().closeAllConnections());
  return { server, address: new URL(url).host };
}

async function opened(leader: () => string | undefined, patienceMs?: number): Promise<[FrontDoor, string]> {
  const door = new FrontDoor(leader, patienceMs);
  ends.push(() => door.close());
  return [door, await door.open("127.0.0.1", 0)];
}

const ask = (url: string): Promise<{ status: number | undefined; retryAfter: unknown; body: string }> =>
  new Promise((resolve, reject) => {
    get(url, { agent: false }, (response) => {
      const { statusCode: status, headers } = response;
      text(response).then((body) => resolve({ status, retryAfter: headers["retry-after"], body }), reject);
    }).on("error", reject);
  });

test("callers of a server that leads are answered by itself, those of others by the one that leads", async () => {
  const own = await named("own");
  const leader = await named("leader");
  const [door, url] = await opened(() => leader.address);
  expect((await ask(url)).body).toBe("leader");
  door.lead(own.server);
  expect((await ask(url)).body).toBe("own");
  door.follow();
  expect((await ask(url)).body).toBe("leader");
});

test.each([
  ["another server", (_: FrontDoor, next: { address: string }) => next.address],
  [
    "this server",
    (door: FrontDoor, next: { server: Server; address: string }) => {
      door.lead(next.server);
      return next.address;
    },
  ],
])("a call that a lost leader does not answer ends when %s leads", async (_, change) => {
  const silent = createServer();
  let { host: address } = new URL(await listen(silent, "127.0.0.1", 0));
  ends.push(() => silent.close().closeAllConnections());
  const next = await named("next");
  const [door, url] = await opened(() => address);
  const asked = ask(url);
  await once(silent, "request");
  address = change(door, next);
  await expect(asked).rejects.toMatchObject({ code: "ECONNRESET" });
  expect((await ask(url)).body).toBe("next");
});

test("callers wait while nobody leads, also if the last leader is still named", async () => {
  const last = await named("last");
  last.server.close();
  const next = await named("next");
  let { address } = last;
  let looks = 0;
  const [, url] = await opened(() => {
    looks += 1;
    return address;
  });
  const asked = ask(url);
  await expect.poll(() => looks).toBeGreaterThan(2);
  address = next.address;
  expect((await asked).body).toBe("next");
});

test("callers who have waited for long are told to come again", async () => {
  const [, url] = await opened(() => undefined, 200);
  expect(await ask(`${url}/v1/sandboxes`)).toMatchObject({ status: 503, retryAfter: "2" });
  expect(JSON.parse((await ask(`${url}/agent/1/health`)).body)).toMatchObject({
    code: "SERVICE_UNAVAILABLE",
  });
});
