import { defineConfig } from "tsup";

export default defineConfig({
  entry: { index: "src/index.ts", configuration: "src/configuration.ts", runner: "src/runner.ts" },
  format: "esm",
  platform: "node",
  target: "node20",
  dts: { compilerOptions: { stripInternal: true } },
  clean: true,
});
