import { defineConfig } from "tsup";
import { rawText } from "../../scripts/raw-text.js";
import { thirdPartyLicences } from "../../scripts/third-party-licences.js";

export default defineConfig([
  {
    entry: { program: "src/program.ts" },
    format: "cjs",
    platform: "node",
    target: "node20",
    // Bundle all packages, because sandboxes have no node_modules. Code that few sandboxes need is loaded only when it
    // is used.
    noExternal: [/.*/],
    // Do not remove the files of the other build.
    clean: ["!main.cjs", "!node-proxy.cjs"],
    esbuildPlugins: [rawText(), thirdPartyLicences()],
    // Minify, because every sandbox parses this file before its first answer. Keep names, for stack traces.
    esbuildOptions: (options) => {
      options.minifySyntax = true;
      options.minifyWhitespace = true;
      // A function, which `main.ts` compiles as it is in the file: a copy of the text costs every sandbox 0.5 MB.
      options.banner = { js: "(function (exports, require, module, __filename, __dirname) {" };
      options.footer = { js: "})" };
      // Switch off the native accelerators of ws: it would look for them in directories that sandboxed code can write.
      options.define = {
        ...options.define,
        "process.env.WS_NO_BUFFER_UTIL": "true",
        "process.env.WS_NO_UTF_8_VALIDATE": "true",
      };
    },
  },
  {
    entry: { main: "src/main.ts", "node-proxy": "src/node-proxy.ts" },
    format: "cjs",
    platform: "node",
    target: "node20",
    esbuildOptions: (options) => {
      options.minify = true;
    },
  },
]);
