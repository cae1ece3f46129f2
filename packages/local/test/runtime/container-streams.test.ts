import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import Docker from "dockerode";
import { expect, test } from "vitest";
import { attachedTo, bridgedTo } from "../../src/runtime/docker/engine/container-streams.js";

const ends = { path: "/nowhere/socket", errors: new PassThrough() };

/** What a daemon says that removes the container at the same time, to the request whose path matches. */
async function refusingDaemon(refused: RegExp) {
  const server = createServer((request, response) => {
    const isRefused = refused.test(request.url ?? "");
    response.writeHead(isRefused ? 409 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(isRefused ? { message: "Removal In Progress" } : { Id: "e", Config: {} }));
  });
  server.keepAliveTimeout = 0;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    docker: new Docker({ host: "127.0.0.1", port }),
    connections: () => new Promise((resolve) => server.getConnections((_, count) => resolve(count))),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test.each(["attach", "exec"] as const)(
  "a connection for a container's streams is closed when the daemon refuses it: %s",
  async (way) => {
    await using daemon = await refusingDaemon(way === "attach" ? /\/attach/ : /\/start/);
    const { docker, connections } = daemon;
    const container = docker.getContainer("c");
    const reaching =
      way === "attach"
        ? attachedTo(docker, container, ends)
        : bridgedTo(docker, container, ends, new AbortController().signal);
    await expect(reaching).rejects.toThrow("Removal In Progress");
    await expect.poll(connections).toBe(0);
  },
);
