#!/usr/bin/env node
// Builds the pages of docs/ into a site with search and the references of the packages, the HTTP APIs and the MCP tools:
// docs/.vitepress/dist. Each page is there as Markdown too, and llms.txt lists them.
//   npm run docs
// Installs VitePress below docs/ if it is missing. Nothing else installs it, because it is large and only the site needs it.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { mcpReferencePage } from "./generator/mcp-reference.mjs";
import { referencePage } from "./generator/reference-page.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const docs = join(root, "docs");

run(join(root, "node_modules/.bin/pnpm"), "install", "--ignore-workspace", "--frozen-lockfile");
run("node_modules/.bin/typedoc", "--options", "typedoc.config.mjs");
copyReadmes();
await writeReferences();
run("node_modules/.bin/vitepress", "build", ".");
console.log("The site is in docs/.vitepress/dist: serve it with any web server.");

/**
 * Copies the READMEs of packages into docs/, because they are pages of the site too. .vitepress/links.mts resolves
 * their links.
 */
function copyReadmes() {
  mkdirSync(join(docs, "packages"), { recursive: true });
  for (const name of ["client", "local", "mcp", "mcp-runner", "cli"]) {
    const text = readFileSync(join(root, "packages", name, "README.md"), "utf8");
    writeFileSync(join(docs, "packages", `${name}.md`), text);
  }
}

/** Writes a page for each contract and one for the tools of the MCP server. They are links of the site's sidebar. */
async function writeReferences() {
  mkdirSync(join(docs, "reference"), { recursive: true });
  for (const name of ["control-plane", "agent"]) {
    const contract = parse(readFileSync(join(root, "openapi", `${name}.yaml`), "utf8"));
    writeFileSync(join(docs, "reference", `${name}.md`), referencePage(contract));
  }
  const tools = await mcpReferencePage(join(root, "packages/mcp"));
  writeFileSync(join(docs, "reference", "mcp-tools.md"), tools);
}

function run(command, ...args) {
  const { status, error } = spawnSync(command, args, { cwd: docs, stdio: "inherit" });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}
