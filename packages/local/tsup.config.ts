import { defineConfig } from "tsup";

/** Writes the types; rolldown writes the code (rolldown.config.ts). */
export default defineConfig({
  entry: { index: "src/index.ts" },
  format: "esm",
  dts: {
    only: true,
    resolve: ["@cloud-sandbox/protocol", "@cloud-sandbox/server-kit"],
  },
});
