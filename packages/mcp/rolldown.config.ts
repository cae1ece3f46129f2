import { chmodSync } from "node:fs";
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

const executable: Plugin = {
  name: "executable",
  writeBundle: () => chmodSync(fileURLToPath(new URL("dist/main.js", import.meta.url)), 0o755),
};

export default defineConfig({
  input: { main: source("main.ts") },
  platform: "node",
  transform: { target: "node20" },
  resolve: { alias: { "@modelcontextprotocol/server/_shims": source("server/sdk-shims.ts") } },
  plugins: [builtModule(/profiles\/[\w-]+\/listed-tools\.ts$/), thirdPartyLicencesOf(), executable],
  output: {
    dir: "dist",
    cleanDir: true,
    minify: true,
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
    // Everything is in it: finding packages takes longer than loading them. The start is one file, because each file takes
    // time to open; what is loaded later is in others, because Node.js parses the whole of a file
    // (docs/decisions/0021-mcp-starts-in-parts.md).
    codeSplitting: {
      groups: [{ name: (id, graph) => (isOfStart(id, graph) ? "start" : null), debugName: "start" }],
    },
  },
});
