import { defineConfig } from "tsup";
import { rawText } from "../../scripts/raw-text.js";
import { thirdPartyLicences } from "../../scripts/third-party-licences.js";

export default defineConfig([
  {
    entry: { main: "src/main.ts", program: "src/program.ts" },
    format: "cjs",
    platform: "node",
    target: "node20",
    // Files that a sandbox can be given: nothing of node_modules is there. What few sandboxes need is loaded when one does.
    noExternal: [/.*/],
    // The other build's is not this one's to remove.
    clean: ["!node-proxy.cjs"],
    esbuildPlugins: [rawText(), thirdPartyLicences()],
    // Every sandbox parses it before its first answer. Names are kept, for the traces of what goes wrong.
    esbuildOptions: (options) => {
      options.minifySyntax = true;
      options.minifyWhitespace = true;
      // Without its native accelerators, which it would look for in directories that sandboxed code may write.
      options.define = {
        ...options.define,
        "process.env.WS_NO_BUFFER_UTIL": "true",
        "process.env.WS_NO_UTF_8_VALIDATE": "true",
      };
    },
  },
  {
    entry: { "node-proxy": "src/node-proxy.ts" },
    format: "cjs",
    platform: "node",
    target: "node20",
    esbuildOptions: (options) => {
      options.minify = true;
    },
  },
]);
