import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "rolldown";
import { builtModule } from "../../scripts/built-module.js";
import { compiledCodeMark } from "../../scripts/compiled-code-mark.js";
import { thirdPartyLicencesOf } from "../../scripts/third-party-licences.js";

const source = (path: string): string => fileURLToPath(new URL(`src/${path}`, import.meta.url));

/** The modules that every start with the default profile needs. */
const start = [source("serve.ts"), source("profiles/hopx/profile.ts")];

interface Graph {
  getModuleInfo(id: string): { readonly importedIds: readonly string[] } | null;
}

/** Whether a module is needed at the start, or imported by one that is. */
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

/**
 * The bundle file for a module. The client's some fifty files become one, because opening them takes longer than
 * compiling them.
 */
function fileOf(id: string, graph: Graph): string | null {
  if (isOfStart(id, graph)) return "start";
  return id.includes("/packages/client/dist/") ? "client" : null;
}

const built = (path: string): string => fileURLToPath(new URL(`dist/${path}`, import.meta.url));

const executable: Plugin = {
  name: "executable",
  writeBundle() {
    chmodSync(built("main.js"), 0o755);
    // The package's sources are ES modules, the built files CommonJS.
    writeFileSync(built("package.json"), `${JSON.stringify({ type: "commonjs" })}\n`);
  },
};

const copy = "?of-the-runner";

/**
 * Gives what runs other people's MCP servers its own zod and its own core of the SDK. With one for all, the start's file would
 * have hundreds of exports for them, which every start would pay for.
 */
const ownCore: Plugin = {
  name: "own core",
  async resolveId(source, importer) {
    const isCopied = importer?.endsWith(copy) === true;
    const isRunners =
      importer !== undefined && /\/(@modelcontextprotocol\/client|packages\/mcp-runner)\//.test(importer);
    if (!isCopied && !(isRunners && /^(zod|@modelcontextprotocol\/core)(\/|$)/.test(source))) return null;
    const from = isCopied ? importer.slice(0, -copy.length) : importer;
    const resolved = await this.resolve(source, from, { skipSelf: true });
    return resolved === null ? null : { ...resolved, id: `${resolved.id}${copy}` };
  },
  load: (id) => (id.endsWith(copy) ? readFileSync(id.slice(0, -copy.length), "utf8") : null),
};

export default defineConfig({
  input: { main: source("main.ts") },
  platform: "node",
  transform: { target: "node20" },
  resolve: {
    alias: { "@modelcontextprotocol/server/_shims": source("server/sdk-shims.ts") },
    // Modules first: the CommonJS form of jsonc-parser hides from bundlers what it consists of.
    mainFields: ["module", "main"],
  },
  plugins: [
    ownCore,
    builtModule(/profiles\/[\w-]+\/listed-tools\.ts$/),
    compiledCodeMark(),
    thirdPartyLicencesOf(),
    executable,
  ],
  output: {
    dir: "dist",
    // Build CommonJS, because Node.js starts it faster: the loader of ES modules alone takes a tenth of this server's
    // start.
    format: "cjs",
    dynamicImportInCjs: false,
    cleanDir: true,
    minify: true,
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
    // Bundle all packages, because finding packages takes longer than loading them. Everything for the start is in one
    // file, because opening files takes time. Code that is loaded later is in other files, because Node.js parses whole
    // files (docs/decisions/0021-mcp-starts-in-parts.md).
    codeSplitting: {
      groups: [{ name: fileOf, debugName: "start and client" }],
    },
  },
});
