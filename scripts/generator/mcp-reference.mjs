/** Writes the reference page of the MCP server, profile by profile, from its table of tools. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { table, typeOf } from "./field-table.mjs";

const toolTable = `
export { profiles } from "./src/profiles/index.ts";
export { mcpServerTools } from "./src/tools/mcp-servers.ts";
export { portableSchema } from "./src/tools/definition/portable-schema.ts";
export { toolsets } from "./src/tools/definition/tool.ts";
`;

export async function mcpReferencePage(directory) {
  const { mcpServerTools, portableSchema, profiles, toolsets } = await load(directory);
  const loaded = await Promise.all(profiles.map(async ({ title, load }) => ({ title, ...(await load()) })));
  const sections = loaded.map(({ name, title, tools, offByDefault = [] }) => {
    const sets = toolsets.filter((set) => tools.some(({ toolset }) => toolset === set));
    return [
      `## Profile ${name}`,
      `${title}. ${tools.length} tools${name === profiles[0].name ? "; the default" : `: \`--profile ${name}\``}.`,
      overview(name, tools, sets, offByDefault),
      ...tools.map((tool) => toolSection(name, tool, portableSchema)),
    ].join("\n\n");
  });
  return `# Tools of the MCP server

Every profile with its tools: what goes in, and what comes out as structured content. Results may have more fields than
are named. A call that fails is marked as an error, with a sentence that says what to do next.

${sections.join("\n\n")}

## Other people's MCP servers

With \`--mcp-gateway NAMES\`, these tools are offered in addition to those of any profile.

${mcpServerTools.map((tool) => toolSection("mcp", tool, portableSchema)).join("\n\n")}
`;
}

function overview(profile, tools, sets, offByDefault) {
  const rows = sets.map((set) => {
    const names = tools.filter(({ toolset }) => toolset === set).map(({ name }) => link(profile, name));
    return `| ${set}${offByDefault.includes(set) ? " (off by default)" : ""} | ${names.join(", ")} |`;
  });
  return ["| toolset | tools |", "|---|---|", ...rows].join("\n");
}

const link = (profile, name) => `[${name}](#${profile}-${name})`;

function toolSection(profile, { name, title, description, annotations, input, output }, schemaOf) {
  return [
    `### ${profile}: ${name}`,
    `${title}. ${description}`,
    `*${behaviour(annotations)}.*`,
    fields("parameter", schemaOf(input, "input")) ?? "No parameters.",
    output ? fields("result", schemaOf(output, "output")) : "The result is the other tool's.",
  ]
    .filter(Boolean)
    .join("\n\n");
}

function behaviour({ readOnlyHint, destructiveHint, idempotentHint, openWorldHint }) {
  const effect = readOnlyHint
    ? "Changes nothing"
    : destructiveHint
      ? "May replace or delete"
      : "Adds, replaces nothing";
  const again = idempotentHint && !readOnlyHint ? "; a second call changes nothing more" : "";
  return `${effect}${again}${openWorldHint ? "; may reach beyond the service" : ""}`;
}

function fields(heading, { properties = {}, required = [] }) {
  const rows = Object.entries(properties).map(([name, schema]) => [
    name,
    choices(schema) + (required.includes(name) && schema.default === undefined ? ", required" : ""),
    schema.description?.replace(/[^.]$/, "$&."),
    schema,
  ]);
  return rows.length > 0 ? table(heading, rows) : undefined;
}

function choices(schema) {
  return schema.enum ? schema.enum.map((value) => `\`${value}\``).join(", ") : typeOf(schema);
}

/** Loads the table of tools. Bundles it first, because Node.js 20 cannot import TypeScript. */
async function load(directory) {
  const { outputFiles } = await build({
    stdin: { contents: toolTable, resolveDir: directory, loader: "ts" },
    bundle: true,
    write: false,
    format: "esm",
    platform: "node",
  });
  const cache = join(directory, "node_modules", ".cache");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "tools-"));
  try {
    const file = join(folder, "tools.mjs");
    writeFileSync(file, outputFiles[0].text);
    return await import(pathToFileURL(file).href);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
