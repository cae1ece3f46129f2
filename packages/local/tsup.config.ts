import { copyFile } from "node:fs/promises";
import { defineConfig } from "tsup";

/** For the CommonJS modules among what is bundled. */
const commonJsRequire =
  'import { createRequire as createCommonJsRequire } from "node:module"; const require = createCommonJsRequire(import.meta.url);';

export default defineConfig({
  entry: { index: "src/index.ts", main: "src/main.ts" },
  format: "esm",
  platform: "node",
  target: "node20",
  dts: { entry: { index: "src/index.ts" }, resolve: ["@cloud-sandbox/protocol"] },
  // One package to install and a few files to load: `npx` starts it in a moment.
  noExternal: [/^[^.]/],
  banner: { js: commonJsRequire },
  clean: true,
  // The agent is carried as a file that machines run, never as code that this process imports.
  onSuccess: () => copyFile("../agent/dist/main.js", "dist/agent.mjs"),
});
