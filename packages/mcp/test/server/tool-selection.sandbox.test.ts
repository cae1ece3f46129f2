import { describe, expect, it } from "vitest";
import { hopx as profile } from "../../src/profiles/hopx/profile.js";
import { offeredProfile, selectTools, type ToolSelection } from "../../src/server/tool-selection.js";
import { connect } from "../support/mcp-connection.js";

const namesOf = (toolset?: string): string[] =>
  profile.tools.filter((tool) => toolset === undefined || tool.toolset === toolset).map(({ name }) => name);
const standard = profile.tools
  .filter(({ toolset }) => !["desktop", "changes", "snapshots", "compatibility"].includes(toolset))
  .map(({ name }) => name);

describe("the tools that are offered", () => {
  it.each<[string, ToolSelection, readonly string[]]>([
    ["are all that are on by default", {}, standard],
    ["are those of toolsets", { toolsets: ["env", "files"] }, [...namesOf("files"), ...namesOf("env")]],
    [
      "are one more toolset with default",
      { toolsets: ["default", "desktop"] },
      [...standard, ...namesOf("desktop")],
    ],
    ["are every one with all", { toolsets: ["all"] }, namesOf()],
    ["are single tools", { tools: ["file_read", "execute_code"] }, ["execute_code", "file_read"]],
    [
      "are single tools beside toolsets",
      { toolsets: ["env"], tools: ["file_read"] },
      ["file_read", ...namesOf("env")],
    ],
    ["are none that is excluded", { toolsets: ["env"], excludeTools: ["env_set"] }, ["env_get", "env_clear"]],
    [
      "change nothing in read-only mode",
      { tools: ["file_read", "file_write"], readOnly: true },
      ["file_read"],
    ],
  ])("%s", (_, selection, expected) => {
    expect(selectTools(profile, selection).map(({ name }) => name)).toEqual(expected);
  });

  it("change nothing in read-only mode, with every toolset", () => {
    const offered = selectTools(profile, { toolsets: ["all"], readOnly: true });
    expect(offered.length).toBeGreaterThan(5);
    for (const { annotations } of offered) expect(annotations.readOnlyHint).toBe(true);
  });
});

describe("a selection is refused", () => {
  it.each<[string, ToolSelection, RegExp]>([
    [
      "with an unknown toolset",
      { toolsets: ["file"] },
      /--toolsets: profile hopx has no "file"; did you mean files\?/,
    ],
    ["with an unknown tool", { tools: ["read"] }, /--tools: .* "read"; did you mean file_read or /],
    [
      "with an unknown tool to leave out",
      { excludeTools: ["?"] },
      /--exclude-tools: .* there is .*file_read/,
    ],
    [
      "when it leaves nothing",
      { tools: ["file_write"], readOnly: true },
      /exclude every tool; drop --read-only/,
    ],
  ])("%s", (_, selection, message) => {
    expect(() => selectTools(profile, selection)).toThrow(message);
  });
});

describe("the instructions of the server", () => {
  it("are complete if all tools are offered", () => {
    expect(offeredProfile(profile, {})).toEqual({ ...profile, tools: selectTools(profile, {}) });
  });

  it.each<[string, ToolSelection]>([
    ["one tool", { tools: ["execute_code_isolated"] }],
    ["some toolsets", { toolsets: ["commands", "sandboxes"] }],
    ["tools that look", { readOnly: true }],
  ])("name no other tools if %s are offered", (_, selection) => {
    const { advice, instructions, tools } = offeredProfile(profile, selection);
    const said = JSON.stringify([advice.steps, advice.otherwise, advice.leftBehind, instructions]);
    const offered = tools.map(({ name }) => name);
    expect(
      namesOf().filter((name) => new RegExp(`\\b${name}\\b`).test(said) && !offered.includes(name)),
    ).toEqual([]);
    expect(instructions).toMatch(/^Runs code in isolated sandboxes\.\n.*Files live/s);
  });

  it("keep the part of a step that can still be taken", () => {
    const { advice } = offeredProfile(profile, { tools: ["list_sandboxes"] });
    expect(advice.steps.SANDBOX_NOT_FOUND).toBe("list_sandboxes shows the sandboxes that exist.");
    expect(advice.otherwise).toBe("Call again.");
  });
});

it("tools can be selected by environment variables too; empty ones count as absent", async () => {
  const mcp = await connect({
    CLOUD_SANDBOX_MCP_TOOLSETS: "files, env",
    CLOUD_SANDBOX_MCP_EXCLUDE_TOOLS: "",
    CLOUD_SANDBOX_MCP_READ_ONLY: "true",
  });
  const { tools } = await mcp.client.listTools();
  expect(tools.map(({ name }) => name)).toEqual([
    "file_read",
    "file_list",
    "file_exists",
    "file_download",
    "env_get",
  ]);
  await expect(mcp.client.callTool({ name: "file_write", arguments: {} })).rejects.toThrow(/file_write/);
  await mcp.client.close();
});
