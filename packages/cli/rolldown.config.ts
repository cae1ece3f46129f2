import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "rolldown";
import { builtModule } from "../../scripts/built-module.js";
import { compiledCodeMark } from "../../scripts/compiled-code-mark.js";
import { leanUndici } from "../../scripts/lean-undici.js";
import { thirdPartyLicencesOf } from "../../scripts/third-party-licences.js";

const place = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const { dependencies } = JSON.parse(readFileSync(place("package.json"), "utf8")) as { dependencies: object };
/** Whether a module belongs to a dependency, which is installed beside this package and so is not bundled. */
const isInstalled = (id: string): boolean =>
  Object.keys(dependencies).some((name) => id === name || id.startsWith(`${name}/`));

/**
 * Files take longer to open than to compile. What a call loads of the client is in some fifty, and what commands share in as
 * many; both are one file. The large parts of single commands stay apart.
 */
function fileOf(id: string): string | null {
  if (id.includes("/packages/client/dist/")) return "client";
  // Their dynamic imports would keep a file with them out of the cache of compiled code.
  if (/\/cli\/src\/(commands\/service|mcp\/serve)/.test(id)) return "services";
  const isOfMost =
    /\/commander\/|\/cli\/(src\/(?!main\.|mcp\/|start\/|commands\/template\/|commands\/typescript|output\/(sixel-image|table|visible-text))|package\.json)/;
  return isOfMost.test(id) ? "commands" : null;
}

const executable: Plugin = {
  name: "executable",
  writeBundle() {
    chmodSync(place("dist/main.js"), 0o755);
    // The package's sources are ES modules, the built files CommonJS.
    writeFileSync(place("dist/package.json"), `${JSON.stringify({ type: "commonjs" })}\n`);
  },
};

/** Commander can start other programs as its commands. This command has none, and `node:child_process` takes long to load. */
const withoutPrograms: Plugin = {
  name: "without-programs",
  resolveId: (id, importer) =>
    id === "node:child_process" && importer?.includes("/commander/") ? "\0no-programs" : null,
  load: (id) => (id === "\0no-programs" ? "export {}" : null),
};

/**
 * Loads the backend on this machine, and Node.js's own modules, with `require`: a dynamic import would load Node.js's loader of ES
 * modules too, and keep the file that it is in out of the cache of compiled code.
 */
const required: Plugin = {
  name: "required",
  transform: (code) =>
    code.replaceAll(
      /\bimport\(((?:\s*\/\*.*?\*\/)*\s*(?:packageName|["']node:\w+["'])\s*)\)/g,
      "Promise.resolve(require($1))",
    ),
};

export default defineConfig({
  input: {
    main: place("src/main.ts"),
    client: "cloud-sandbox",
    typescript: place("src/commands/typescript.ts"),
  },
  platform: "node",
  transform: { target: "node20" },
  external: isInstalled,
  // Prefer ES modules: the CommonJS form of jsonc-parser loads its parts in a way that bundlers cannot follow.
  resolve: { mainFields: ["module", "main"] },
  plugins: [
    builtModule(/prepared-answers\.ts$/, [/^\.\/(commands|mcp)\//]),
    withoutPrograms,
    leanUndici(),
    required,
    compiledCodeMark(),
    thirdPartyLicencesOf(),
    executable,
  ],
  output: {
    dir: "dist",
    cleanDir: true,
    // Build CommonJS, because Node.js starts it faster: loading its loader of ES modules takes a third of its own start. Node.js
    // 20 also stores the compiled code of CommonJS alone (packages/server-kit/src/compiled-code.ts).
    format: "cjs",
    minify: true,
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
    codeSplitting: { groups: [{ name: fileOf, debugName: "client and commands" }] },
  },
});
