import { copyFile, cp } from "node:fs/promises";
import { createRequire } from "node:module";
import { defineConfig } from "tsup";
import { leanDockerode } from "../../scripts/lean-dockerode.js";
import { rawText } from "../../scripts/raw-text.js";
import { licencesFile, thirdPartyLicences } from "../../scripts/third-party-licences.js";

/** Names that bundled CommonJS modules expect and ES modules do not have. */
const commonJsNames =
  'import { createRequire as createCommonJsRequire } from "node:module"; const require = createCommonJsRequire(import.meta.url), __dirname = import.meta.dirname;';
const sqlite = createRequire(import.meta.url).resolve("node-sqlite3-wasm");

export default defineConfig([
  {
    entry: { index: "src/index.ts", main: "src/main.ts" },
    format: "esm",
    platform: "node",
    target: "node20",
    dts: {
      entry: { index: "src/index.ts" },
      resolve: ["@cloud-sandbox/protocol", "@cloud-sandbox/server-kit"],
    },
    // Bundle all packages: `npx` then installs one package and loads few files, which makes it start fast.
    noExternal: [/^[^.]/],
    banner: { js: commonJsNames },
    esbuildPlugins: [
      rawText(),
      leanDockerode(),
      thirdPartyLicences({ carried: [`../agent/dist/${licencesFile}`] }),
    ],
    // Half as long to read at each start. Names stay as they are, for the traces of errors.
    minifyWhitespace: true,
    minifySyntax: true,
    clean: ["**/*", "!machine/**"],
    onSuccess: async () => {
      // The agent is carried as files that machines run, never as code that this process imports.
      await cp("../agent/dist", "dist/agent", { recursive: true });
      await copyFile(sqlite.replace(/js$/, "wasm"), "dist/node-sqlite3-wasm.wasm");
    },
  },
  {
    // Machines that are containers run it. Like the agent, it is carried as a file.
    entry: { supervisor: "src/runtime/container/inside/supervisor.ts" },
    outDir: "dist/machine",
    format: "cjs",
    platform: "node",
    target: "node20",
    minifyWhitespace: true,
    minifySyntax: true,
  },
]);
