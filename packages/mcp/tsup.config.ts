import { fileURLToPath } from "node:url";
import { defineConfig } from "tsup";
import { thirdPartyLicences } from "../../scripts/third-party-licences.js";

export default defineConfig({
  entry: { main: "src/main.ts" },
  format: "esm",
  platform: "node",
  target: "node20",
  // One file with everything in it: start-up is paid by every conversation, and finding packages is most of it.
  external: ["cloud-sandbox-local"],
  splitting: false,
  esbuildPlugins: [thirdPartyLicences()],
  minifyWhitespace: true,
  clean: true,
  banner: {
    // Bundled CommonJS asks for Node's own modules by require.
    js: 'import{createRequire as $createRequire}from"node:module";const require=$createRequire(import.meta.url);',
  },
  esbuildOptions(options) {
    options.alias = {
      ...options.alias,
      "@modelcontextprotocol/server/_shims": fileURLToPath(new URL("src/sdk-shims.ts", import.meta.url)),
    };
  },
});
