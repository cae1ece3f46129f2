/** What is listed when a server's lists change quickly. How clients see it is in test/mcp-runner/first-class.test.ts. */
import { expect, it } from "vitest";
import { FirstClassServers } from "../../src/gateway/first-class-servers.js";
import type { OtherServers } from "../../src/servers/other-servers.js";
import type { ListSource } from "../../src/servers/server-registry.js";

it("keeps what a server listed last, also if an earlier answer comes later", async () => {
  let changed: (server: string, source: ListSource) => void = () => undefined;
  const servers = {
    onListChange: (listener: typeof changed) => {
      changed = listener;
    },
  } as OtherServers;
  const listed = new FirstClassServers(servers, ["one"], () => undefined);
  let changes = 0;
  listed.onChange(() => {
    changes += 1;
  });
  const answers: (() => void)[] = [];
  const listing = (uri: string): ListSource => ({
    tools: async () => [],
    others: () =>
      new Promise((resolve) => {
        const resources = [{ uri, name: "it" }];
        answers.push(() => resolve({ prompts: [], resources, resourceTemplates: [], completes: false }));
      }),
  });
  for (const uri of ["test://old", "test://new"]) changed("one", listing(uri));
  await expect.poll(() => answers.length).toBe(2);
  answers.pop()?.();
  await expect.poll(() => changes).toBe(1);
  answers.pop()?.();
  await new Promise((resolve) => setTimeout(resolve, 20));
  const uris: string[] = [];
  for await (const { uri } of listed.resources()) uris.push(uri);
  expect(uris).toEqual([expect.stringContaining("new")]);
});
