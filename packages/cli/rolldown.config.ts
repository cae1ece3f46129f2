import { chmodSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "rolldown";
import { thirdPartyLicencesOf } from "../../scripts/third-party-licences.js";

const place = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const { dependencies } = JSON.parse(readFileSync(place("package.json"), "utf8")) as { dependencies: object };
/** What is installed beside this package: its dependencies, and files of theirs. */
const isInstalled = (id: string): boolean =>
  Object.keys(dependencies).some((name) => id === name || id.startsWith(`${name}/`));

const executable: Plugin = {
  name: "executable",
  writeBundle: () => chmodSync(place("dist/main.js"), 0o755),
};

export default defineConfig({
  input: { main: place("src/main.ts") },
  platform: "node",
  transform: { target: "node20" },
  external: isInstalled,
  // Modules first: the CommonJS form of jsonc-parser hides from bundlers what it consists of.
  resolve: { mainFields: ["module", "main"] },
  plugins: [thirdPartyLicencesOf(), executable],
  output: {
    dir: "dist",
    // ES modules, as the packages that it loads: with CommonJS, this command and the MCP runner would have a client library each,
    // and neither would know the other's errors.
    format: "esm",
    cleanDir: true,
    minify: true,
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
  },
});
