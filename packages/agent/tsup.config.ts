import { defineConfig } from "tsup";
import { thirdPartyLicences } from "../../scripts/third-party-licences.js";

export default defineConfig({
  entry: { main: "src/main.ts" },
  format: "esm",
  platform: "node",
  target: "node20",
  // Files that a sandbox can be given: nothing of node_modules is there. What few sandboxes need is loaded when one does.
  noExternal: [/.*/],
  clean: true,
  esbuildPlugins: [thirdPartyLicences()],
  // What is bundled from CommonJS asks for Node's own modules by `require`.
  banner: {
    js: 'import { createRequire } from "node:module";const require = createRequire(import.meta.url);',
  },
  // Every sandbox parses it before its first answer. Names are kept, for the traces of what goes wrong.
  esbuildOptions: (options) => {
    options.minifySyntax = true;
    options.minifyWhitespace = true;
  },
});
