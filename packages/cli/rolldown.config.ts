import { chmodSync, readFileSync, writeFileSync } from "node:fs";
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
  writeBundle() {
    chmodSync(place("dist/main.js"), 0o755);
    // The package's own modules are ESM, the built ones CommonJS.
    writeFileSync(place("dist/package.json"), `${JSON.stringify({ type: "commonjs" })}\n`);
  },
};

export default defineConfig({
  input: { main: place("src/main.ts") },
  platform: "node",
  transform: { target: "node20" },
  external: isInstalled,
  plugins: [thirdPartyLicencesOf(), executable],
  output: {
    dir: "dist",
    // Node.js starts CommonJS faster, and one file faster than several: what --help needs is in the first.
    format: "cjs",
    cleanDir: true,
    minify: true,
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
  },
});
