import { defineConfig } from "tsup";
import { thirdPartyLicences } from "../../scripts/third-party-licences.js";

export default defineConfig({
  entry: { main: "src/main.ts" },
  format: "esm",
  platform: "node",
  target: "node20",
  // For commander, which is CommonJS. It is bundled, because finding a package takes longer than loading it.
  banner: {
    js: 'import { createRequire as createCommonJsRequire } from "node:module"; const require = createCommonJsRequire(import.meta.url);',
  },
  esbuildPlugins: [thirdPartyLicences()],
  clean: true,
});
