import { defineConfig } from "tsup";

export default defineConfig({
  entry: { index: "src/index.ts", opentelemetry: "src/opentelemetry.ts" },
  format: ["esm", "cjs"],
  target: "node20",
  // The contracts' types and constants come along: their package is not published. The path makes the
  // declarations come along too.
  noExternal: ["@cloud-sandbox/protocol"],
  dts: {
    compilerOptions: {
      stripInternal: true,
      paths: { "@cloud-sandbox/protocol": ["../protocol/src/index.ts"] },
    },
  },
  clean: true,
});
