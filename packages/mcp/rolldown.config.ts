import { chmodSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "rolldown";
import { builtModule } from "../../scripts/built-module.js";
import { thirdPartyLicencesOf } from "../../scripts/third-party-licences.js";

const source = (path: string): string => fileURLToPath(new URL(`src/${path}`, import.meta.url));

/** What every start with the default profile needs. */
const start = [source("serve.ts"), source("profiles/hopx/profile.ts")];

interface Graph {
  getModuleInfo(id: string): { readonly importedIds: readonly string[] } | null;
}

/** Whether a module is one of the start's, or imported by one. */
const isOfStart = (() => {
  const modules = new Set<string>();
  return (id: string, graph: Graph): boolean => {
    const add = (found: string): void => {
      if (modules.has(found)) return;
      modules.add(found);
      for (const imported of graph.getModuleInfo(found)?.importedIds ?? []) add(imported);
    };
    if (modules.size === 0) for (const found of start) add(found);
    return modules.has(id);
  };
})();

/** What the first call loads of the client is in some fifty files, which take longer to open than to compile. */
function fileOf(id: string, graph: Graph): string | null {
  if (isOfStart(id, graph)) return "start";
  return id.includes("/packages/client/dist/") ? "client" : null;
}

const built = (path: string): string => fileURLToPath(new URL(`dist/${path}`, import.meta.url));

const executable: Plugin = {
  name: "executable",
  writeBundle() {
    chmodSync(built("main.js"), 0o755);
    // The package's own modules are ESM, the built ones CommonJS.
    writeFileSync(built("package.json"), `${JSON.stringify({ type: "commonjs" })}\n`);
  },
};

export default defineConfig({
  input: { main: source("main.ts") },
  platform: "node",
  transform: { target: "node20" },
  resolve: { alias: { "@modelcontextprotocol/server/_shims": source("server/sdk-shims.ts") } },
  plugins: [builtModule(/profiles\/[\w-]+\/listed-tools\.ts$/), thirdPartyLicencesOf(), executable],
  output: {
    dir: "dist",
    // Node.js starts CommonJS faster: the loader of ES modules alone takes as long as a tenth of this server's start.
    format: "cjs",
    cleanDir: true,
    minify: true,
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
    // Everything is in it: finding packages takes longer than loading them. The start is one file, because each file takes
    // time to open; what is loaded later is in others, because Node.js parses the whole of a file
    // (docs/decisions/0021-mcp-starts-in-parts.md).
    codeSplitting: {
      groups: [{ name: fileOf, debugName: "start and client" }],
    },
  },
});
