import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { PreviewGateway, type PreviewGatewayOptions } from "../../src/gateway/preview-gateway.js";

type Connection = ReturnType<PreviewGatewayOptions["agents"]["connection"]>;
type Running = Awaited<ReturnType<PreviewGatewayOptions["agents"]["running"]>>;

/**
 * A gateway whose agent refuses with `status` to open a port. Gives the tokens that the agent was sent, and the tokens
 * that were issued.
 */
async function gateway(status: number, lifeMs: () => number) {
  const asked: string[] = [];
  const issued: string[] = [];
  const machine: Pick<Running, "id"> = { id: "s" };
  const connection: Pick<Connection, "openPort"> = {
    openPort: async (_port, authorization) => {
      asked.push(authorization);
      return { message: Object.assign(Object.create(null), { statusCode: status }), connection: undefined };
    },
  };
  const previews = new PreviewGateway({
    agents: {
      running: async () => machine as Running,
      connection: () => connection as Connection,
      checkAlive: async () => undefined,
      explain: async (_machine, _signal, error) => {
        throw error;
      },
    },
    issueToken: async () => {
      issued.push(`token ${issued.length + 1}`);
      return { token: issued.at(-1) ?? "", expiresAt: new Date(Date.now() + lifeMs()) };
    },
    isAccountKey: () => false,
  });
  const server = createServer((request, response) => {
    void previews.handle(request, response, { sandboxId: "s", port: 80, path: "/", prefix: "/preview/s/80" });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return { asked, issued, look: () => fetch(url) };
}

describe("the token with which the gateway asks agents for ports", () => {
  test("is used again while it is good for more than a minute", async () => {
    const { asked, look } = await gateway(404, () => 120_000);
    for (let time = 0; time < 3; time++) expect((await look()).status).toBe(404);
    expect(asked).toEqual(["Bearer token 1", "Bearer token 1", "Bearer token 1"]);
  });

  test.each([
    ["is nearly over", 59_000],
    ["is over", -1000],
  ])("is replaced when it %s", async (_, lifeMs) => {
    const { asked, look } = await gateway(404, () => lifeMs);
    await look();
    await look();
    expect(asked).toEqual(["Bearer token 1", "Bearer token 2"]);
  });
});

test("a client that opens too many previews is told when to try again", async () => {
  const { look } = await gateway(429, () => 120_000);
  const answer = await look();
  expect(answer.status).toBe(429);
  expect(answer.headers.get("retry-after")).toBe("1");
});
