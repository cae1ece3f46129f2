#!/usr/bin/env node
// Finds imports that are not allowed: circles of files or folders, and imports that import-rules.mjs forbids.
//   node scripts/check-imports.mjs [root]    prints every such import; the exit code is 1 if there is any
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { cruise } from "dependency-cruiser";
import { importRules } from "./import-rules.mjs";

const root = resolve(process.argv[2] ?? join(import.meta.dirname, ".."));
/**
 * Files that may import a module by a computed name. The first hides the import from bundlers
 * (docs/decisions/0031-a-client-without-a-key.md), the second imports a file that the user names.
 */
const mayCompute = new Set([
  join("packages", "client", "src", "config", "local-backend.ts"),
  join("packages", "cli", "src", "commands", "template", "module.ts"),
]);

const folders = readdirSync(join(root, "packages"))
  .map((name) => join("packages", name, "src"))
  .filter((folder) => existsSync(join(root, folder)));

const { exitCode, output } = await cruise(folders, {
  ...importRules.options,
  baseDir: root,
  validate: true,
  ruleSet: { forbidden: importRules.forbidden },
  outputType: "err",
});
if (exitCode !== 0) {
  console.error(output);
  process.exitCode = 1;
}

for (const file of folders.flatMap((folder) => filesOf(folder)))
  if (!mayCompute.has(file) && importsWhatItComputes(readFileSync(join(root, file), "utf8"))) {
    console.error(`${file} computes what it imports: the name must be written out.`);
    process.exitCode = 1;
  }

function filesOf(folder) {
  return readdirSync(join(root, folder), { recursive: true })
    .filter((file) => /\.[cm]?[jt]sx?$/.test(file))
    .map((file) => join(folder, file));
}

function importsWhatItComputes(text) {
  const code = text.replace(/\/\*.*?\*\//gs, "").replace(/"(?:[^"\\\n]|\\.)*"/g, '""');
  // A method may have this name: `templates.import(file)`.
  return /(?<![.#]|\basync )\bimport\((?!\s*["'])/.test(code);
}
