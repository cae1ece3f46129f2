import { chmodSync, copyFileSync, cpSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "rolldown";
import { compiledCodeMark } from "../../scripts/compiled-code-mark.js";
import { leanDockerode } from "../../scripts/lean-dockerode.js";
import { rawTextOf } from "../../scripts/raw-text.js";
import { licencesFile, thirdPartyLicencesOf } from "../../scripts/third-party-licences.js";

const place = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const files: Plugin = {
  name: "files",
  writeBundle() {
    chmodSync(place("dist/main.js"), 0o755);
    // The package's sources are ES modules, the built files CommonJS.
    writeFileSync(place("dist/package.json"), `${JSON.stringify({ type: "commonjs" })}\n`);
    // The agent is carried as files that machines run, never as code that this process imports.
    cpSync(place("../agent/dist"), place("dist/agent"), { recursive: true });
    const sqlite = createRequire(import.meta.url).resolve("node-sqlite3-wasm");
    copyFileSync(sqlite.replace(/js$/, "wasm"), place("dist/node-sqlite3-wasm.wasm"));
  },
};

export default defineConfig([
  {
    input: { index: place("src/index.ts"), main: place("src/main.ts") },
    platform: "node",
    transform: { target: "node20" },
    // Bundle all packages: `npx` then installs one package and loads few files, which makes it start fast.
    plugins: [
      rawTextOf(),
      leanDockerode(),
      compiledCodeMark(),
      thirdPartyLicencesOf({ carried: [place(`../agent/dist/${licencesFile}`)] }),
      files,
    ],
    output: {
      dir: "dist",
      cleanDir: true,
      // Build CommonJS, because Node.js starts it faster, and Node.js 20 stores the compiled code of CommonJS alone
      // (packages/server-kit/src/compiled-code.ts).
      format: "cjs",
      dynamicImportInCjs: false,
      // Half as long to read at each start. Names stay as they are, for the traces of errors.
      minify: { compress: true, mangle: false, codegen: true },
      entryFileNames: "[name].js",
      chunkFileNames: "[name]-[hash].js",
    },
  },
  {
    // Machines that are containers run it. Like the agent, it is carried as a file.
    input: {
      supervisor: place("src/runtime/container/inside/supervisor.ts"),
      bridge: place("src/runtime/container/inside/bridge.ts"),
    },
    platform: "node",
    transform: { target: "node20" },
    output: { dir: "dist/machine", format: "cjs", minify: true, entryFileNames: "[name].cjs" },
  },
]);
