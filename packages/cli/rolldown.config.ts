import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "rolldown";
import { builtModule } from "../../scripts/built-module.js";
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
  const isOfMost =
    /\/commander\/|\/cli\/(src\/(?!mcp\/|start\/|commands\/template\/|output\/(table|visible-text))|package\.json)/;
  return isOfMost.test(id) ? "commands" : null;
}

const executable: Plugin = {
  name: "executable",
  writeBundle() {
    chmodSync(place("dist/main.js"), 0o755);
    // The package's own modules are ESM, and so are the built ones that end in .mjs.
    writeFileSync(place("dist/package.json"), `${JSON.stringify({ type: "commonjs" })}\n`);
  },
};

/** Leaves the commands out, because they are a separate build (parse.mjs). */
const commands: Plugin = {
  name: "commands",
  resolveId: (id) => (id === "./parse.js" ? { id: "./parse.mjs", external: true } : null),
};

/** Commander can start other programs as its commands. This command has none, and `node:child_process` takes long to load. */
const withoutPrograms: Plugin = {
  name: "without-programs",
  resolveId: (id, importer) =>
    id === "node:child_process" && importer?.includes("/commander/") ? "\0no-programs" : null,
  load: (id) => (id === "\0no-programs" ? "export {}" : null),
};

export default defineConfig([
  {
    input: { main: place("src/main.ts") },
    platform: "node",
    transform: { target: "node20" },
    plugins: [commands, builtModule(/prepared-answers\.ts$/, [/^\.\/(commands|mcp)\//]), executable],
    output: {
      dir: "dist",
      cleanDir: true,
      // Build CommonJS, because Node.js starts it faster: loading its loader of ES modules takes a third of its own
      // start.
      format: "cjs",
      minify: true,
    },
  },
  {
    input: { parse: place("src/parse.ts"), client: "cloud-sandbox" },
    platform: "node",
    transform: { target: "node20" },
    external: isInstalled,
    // Prefer ES modules: the CommonJS form of jsonc-parser loads its parts in a way that bundlers cannot follow.
    resolve: { mainFields: ["module", "main"] },
    plugins: [withoutPrograms, leanUndici(), thirdPartyLicencesOf()],
    output: {
      dir: "dist",
      format: "esm",
      minify: true,
      entryFileNames: "[name].mjs",
      chunkFileNames: "[name]-[hash].mjs",
      codeSplitting: { groups: [{ name: fileOf, debugName: "client and commands" }] },
    },
  },
]);
