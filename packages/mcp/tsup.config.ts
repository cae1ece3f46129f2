import { fileURLToPath } from "node:url";
import { defineConfig } from "tsup";
import { builtModule } from "../../scripts/built-module.js";
import { lazyCommonJs } from "../../scripts/lazy-commonjs.js";
import { thirdPartyLicences } from "../../scripts/third-party-licences.js";

export default defineConfig({
  entry: { main: "src/main.ts" },
  format: "esm",
  platform: "node",
  target: "node20",
  // Everything is in it: finding packages takes longer than loading them. What is loaded later is in files of its own,
  // because Node.js parses the whole of a file (docs/decisions/0021-mcp-starts-in-parts.md).
  splitting: true,
  esbuildPlugins: [
    lazyCommonJs(/^undici$/),
    builtModule(/profiles\/[\w-]+\/listed-tools\.ts$/),
    thirdPartyLicences(),
  ],
  minifyWhitespace: true,
  clean: true,
  banner: {
    // Bundled CommonJS asks for Node's own modules by require.
    js: 'import{createRequire as $createRequire}from"node:module";const require=$createRequire(import.meta.url);',
  },
  esbuildOptions(options) {
    options.alias = {
      ...options.alias,
      "@modelcontextprotocol/server/_shims": fileURLToPath(
        new URL("src/server/sdk-shims.ts", import.meta.url),
      ),
    };
  },
});
