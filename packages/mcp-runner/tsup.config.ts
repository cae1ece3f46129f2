import { defineConfig } from "tsup";
import { thirdPartyLicences } from "../../scripts/third-party-licences.js";

export default defineConfig({
  entry: { index: "src/index.ts", configuration: "src/configuration.ts", runner: "src/runner.ts" },
  format: "esm",
  platform: "node",
  target: "node20",
  dts: { compilerOptions: { stripInternal: true } },
  clean: true,
  esbuildPlugins: [thirdPartyLicences()],
});
