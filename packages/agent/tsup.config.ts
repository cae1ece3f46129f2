import { defineConfig } from "tsup";

export default defineConfig({
  entry: { main: "src/main.ts" },
  format: "esm",
  platform: "node",
  target: "node20",
  // One file that a sandbox can be given: nothing of node_modules is there.
  noExternal: [/.*/],
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
