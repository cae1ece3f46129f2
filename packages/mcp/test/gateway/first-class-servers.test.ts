import { expect, it } from "vitest";
import { FirstClassServers } from "../../src/gateway/first-class-servers.js";
import type { OtherServers } from "../../src/servers/other-servers.js";
import type { ListSource } from "../../src/servers/server-registry.js";

it("asks a server that reports changes without end again only once in a while", async () => {
  let asked = 0;
  let report = (): void => undefined;
  const source: ListSource = {
    tools: async () => {
      asked += 1;
      // Some servers report a change whenever they are asked.
      report();
      return [];
    },
    others: async () => ({ prompts: [], resources: [], resourceTemplates: [], completes: false }),
  };
  const servers: Pick<OtherServers, "onListChange"> = {
    onListChange: (listener) => {
      report = () => listener("a", source);
    },
  };
  new FirstClassServers(servers as OtherServers, ["a"], () => undefined);
  for (let count = 0; count < 1_000; count += 1) report();
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(asked).toBe(1);
  await expect.poll(() => asked, { timeout: 10_000 }).toBe(2);
});
