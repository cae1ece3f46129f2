import { copyFile } from "node:fs/promises";
import { defineConfig } from "tsup";

export default defineConfig({
  entry: { index: "src/index.ts", main: "src/main.ts" },
  format: "esm",
  platform: "node",
  target: "node20",
  dts: { entry: { index: "src/index.ts" }, resolve: ["@cloud-sandbox/protocol"] },
  noExternal: ["@cloud-sandbox/protocol"],
  clean: true,
  // The agent is carried as a file that machines run, never as code that this process imports.
  onSuccess: () => copyFile("../agent/dist/main.js", "dist/agent.js"),
});
