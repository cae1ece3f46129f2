import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, it } from "vitest";
import { hopx } from "../../src/profiles/hopx/profile.js";
import { profiles } from "../../src/profiles/index.js";
import { selectTools } from "../../src/server/tool-selection.js";
import { portableSchema } from "../../src/tools/definition/portable-schema.js";
import { toolsets } from "../../src/tools/definition/tool.js";
import { mcpServerTools } from "../../src/tools/mcp-servers.js";

/** The parts of the default tools that a model reads. */
const modelFacing = selectTools(hopx, {}).map(({ name, description, input }) => ({
  name,
  description,
  inputSchema: portableSchema(input, "input"),
}));

it("every tool is listed once, the one-shot run first, then toolset by toolset", () => {
  const names = hopx.tools.map(({ name }) => name);
  expect(names[0]).toBe("execute_code_isolated");
  expect(new Set(names).size).toBe(names.length);
  const order = hopx.tools.map(({ toolset }) => toolsets.indexOf(toolset));
  expect(order).toEqual(order.toSorted((a, b) => a - b));
});

it("all tools together fit in 6,000 tokens", () => {
  const tokens = modelFacing.map((tool) => countTokens(JSON.stringify(tool)));
  expect(tokens.reduce((sum, count) => sum + count)).toBeLessThan(6_000);
});

/** The tools for other people's MCP servers, which are offered beside those of a profile. */
const gateway = { name: "gateway", tools: mcpServerTools };

/** Every tool of every profile. Tools of the default profile are named without it. */
const everyTool = [...(await Promise.all(profiles.map(({ load }) => load()))), gateway].flatMap(
  ({ name: profile, tools }) =>
    tools.map((tool) => [profile === hopx.name ? tool.name : `${profile}: ${tool.name}`, tool] as const),
);

describe.each(everyTool)("%s", (_, tool) => {
  const input = portableSchema(tool.input, "input");
  const output = tool.output && portableSchema(tool.output, "output");

  it("is named, titled and described", () => {
    expect(tool.name).toMatch(/^[a-z]+(_[a-z]+)*$/);
    expect(tool.title).toMatch(/^[A-Z].*[^.]$/);
    expect(tool.description).toMatch(/^[A-Z].*\.$/);
  });

  it("carries all four annotations, and they agree with each other", () => {
    expect(Object.keys(tool.annotations).sort()).toEqual([
      "destructiveHint",
      "idempotentHint",
      "openWorldHint",
      "readOnlyHint",
    ]);
    if (tool.annotations.readOnlyHint) {
      expect(tool.annotations).toMatchObject({ destructiveHint: false, idempotentHint: true });
    }
  });

  it("lets results carry keys that its schema does not name", () => {
    for (const { path, schema } of output ? schemasIn(output) : [])
      expect({ path, ...schema }).not.toMatchObject({ additionalProperties: false });
  });

  it("describes each parameter", () => {
    for (const [name, field] of Object.entries(input.properties as Record<string, Schema>)) {
      expect({ name, ...field }).toMatchObject({ description: expect.stringMatching(/\w/) });
    }
  });

  it("has schemas that every client takes", () => {
    for (const schema of [input, ...(output ? [output] : [])]) {
      expect(schema).toMatchObject({ type: "object" });
      for (const { path, schema: part } of schemasIn(schema)) {
        expect({ path, type: typeof (part.type ?? "") }).toEqual({ path, type: "string" });
        for (const keyword of [
          "$schema",
          "$ref",
          "anyOf",
          "oneOf",
          "allOf",
          "not",
          "prefixItems",
          "propertyNames",
          "nullable",
        ]) {
          expect(part).not.toHaveProperty([keyword]);
        }
      }
    }
  });

  it("keeps its schemas", () => {
    expect({ input, output }).toMatchSnapshot();
  });
});

it("sandbox_id and its two other spellings come first, for every tool that works in a sandbox", () => {
  const reference = ["sandbox_id", "vm_url", "auth_token"];
  const inOne = hopx.tools.filter(({ toolset }) => ["commands", "files", "env", "system"].includes(toolset));
  for (const { input } of inOne) expect(Object.keys(input.shape).slice(0, 3)).toEqual(reference);
});

type Schema = Record<string, unknown>;

/** A schema and all schemas within it, with their paths. */
function schemasIn(schema: Schema, path = ""): { path: string; schema: Schema }[] {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Schema>);
  const parts = [schema.items, schema.additionalProperties].filter(
    (part) => typeof part === "object",
  ) as Schema[];
  return [
    { path, schema },
    ...properties.flatMap(([name, part]) => schemasIn(part, `${path}.${name}`)),
    ...parts.flatMap((part) => schemasIn(part, `${path}[]`)),
  ];
}
