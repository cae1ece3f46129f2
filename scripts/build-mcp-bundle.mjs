#!/usr/bin/env node
// Packs the built MCP server and the local backend into one file that Claude Desktop and other MCP clients can install.
//   node scripts/build-mcp-bundle.mjs [file]    default: packages/mcp/cloud-sandbox.mcpb
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const target = resolve(process.argv[2] ?? join(root, "packages/mcp/cloud-sandbox.mcpb"));

const contents = {
  "packages/mcp/bundle/manifest.json": "manifest.json",
  "packages/mcp/README.md": "README.md",
  LICENSE: "LICENSE",
  "packages/mcp/dist": "server",
  "packages/local/package.json": "server/node_modules/cloud-sandbox-local/package.json",
  "packages/local/dist": "server/node_modules/cloud-sandbox-local/dist",
};

const missing = Object.keys(contents).filter((path) => !existsSync(join(root, path)));
if (missing.length > 0) {
  console.error(`These files are missing: ${missing.join(", ")}. Run "npm run build" first.`);
  process.exit(1);
}

const staging = mkdtempSync(join(tmpdir(), "mcp-bundle-"));
try {
  for (const [from, to] of Object.entries(contents)) {
    cpSync(join(root, from), join(staging, to), {
      recursive: true,
      filter: (file) => !file.endsWith(".d.ts"),
    });
  }
  execFileSync(join(root, "node_modules/.bin/mcpb"), ["pack", staging, target], { stdio: "inherit" });
} finally {
  rmSync(staging, { recursive: true });
}
