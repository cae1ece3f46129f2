import { defineConfig } from "tsup";

export default defineConfig({
  entry: { index: "src/index.ts", configuration: "src/configuration.ts" },
  format: "esm",
  platform: "node",
  target: "node20",
  dts: { compilerOptions: { stripInternal: true } },
  clean: true,
});
