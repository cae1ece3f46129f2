import { McpServer } from "@modelcontextprotocol/server";
import { expect, it, vi } from "vitest";
import { registerTemplates } from "../../src/gateway/listed-templates.js";
import type { SharedToolParts } from "../../src/server/registered-tool.js";

it("lists each template once, and leaves out texts that are none", () => {
  const server = new McpServer({ name: "test", version: "1" });
  const register = vi.spyOn(server, "registerResource");
  const template = (name: string, uriTemplate: string) => ({ name, uriTemplate });
  const resourceTemplates = [
    template("a", "x://{id}"),
    template("a", "x://{id}"),
    template("a", "x://{id}"),
    template("a", "y://{id}"),
    template("open", "x://{id"),
    template("many", "{a}".repeat(20_000)),
    template("b", "x://{id}"),
  ];
  const shared = { profile: {} } as SharedToolParts;
  const lists = { prompts: [], resources: [], resourceTemplates, completes: true };
  const registered = registerTemplates(server, "s", lists, shared);
  const names = register.mock.calls.map(([name]) => name);
  expect(names).toEqual(["s__a x://{id}", "s__a", "s__b"]);
  expect(registered).toHaveLength(3);
});
