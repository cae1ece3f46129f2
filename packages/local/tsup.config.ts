import { copyFile, cp } from "node:fs/promises";
import { createRequire } from "node:module";
import { defineConfig } from "tsup";
import { program } from "../../scripts/program.js";
import { rawText } from "../../scripts/raw-text.js";
import { licencesFile, thirdPartyLicences } from "../../scripts/third-party-licences.js";

export default defineConfig([
  {
    ...program,
    entry: { index: "src/index.ts", main: "src/main.ts" },
    dts: { entry: "src/index.ts", resolve: ["@cloud-sandbox/protocol", "@cloud-sandbox/server-kit"] },
    // Names stay as they are, for the traces of errors in a server's log.
    minify: false,
    esbuildOptions: (options, context) => {
      program.esbuildOptions?.(options, context);
      options.minifySyntax = true;
      options.minifyWhitespace = true;
    },
    // Packages that are CommonJS look for files beside them.
    shims: true,
    // Native code, without which ssh2 works too.
    external: ["cpu-features", /sshcrypto\.node$/],
    // Do not remove what the other build writes.
    clean: ["!machine/**"],
    esbuildPlugins: [rawText(), thirdPartyLicences({ carried: [`../agent/dist/${licencesFile}`] })],
    onSuccess: async () => {
      // The agent is carried as files that machines run, never as code that this process imports.
      await cp("../agent/dist", "dist/agent", { recursive: true });
      const sqlite = createRequire(import.meta.url).resolve("node-sqlite3-wasm");
      await copyFile(sqlite.replace(/js$/, "wasm"), "dist/node-sqlite3-wasm.wasm");
    },
  },
  {
    // Processes of their own run them. Like the agent, they are carried as files.
    entry: {
      supervisor: "src/runtime/container/inside/supervisor.ts",
      bridge: "src/runtime/container/inside/bridge.ts",
      "copy-program": "src/changes/copy-program.ts",
    },
    outDir: "dist/machine",
    format: "cjs",
    platform: "node",
    target: "node20",
    minify: true,
  },
]);
