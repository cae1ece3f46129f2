#!/usr/bin/env node
// Checks rules and format of the Python programs in packages (ruff.toml).
//   node scripts/check-python.mjs            prints what breaks a rule; the exit code is then 1
//   node scripts/check-python.mjs --write    formats the files
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PositionEncoding, Workspace } from "@astral-sh/ruff-wasm-nodejs";
import { parse } from "smol-toml";

const root = fileURLToPath(new URL("..", import.meta.url));
const writing = process.argv.includes("--write");
const ruff = new Workspace(parse(readFileSync(join(root, "ruff.toml"), "utf8")), PositionEncoding.Utf16);

const programs = readdirSync(join(root, "packages")).flatMap((name) => {
  const home = join("packages", name, "src");
  const files = readdirSync(join(root, home), { recursive: true });
  return files.filter((file) => file.endsWith(".py")).map((file) => join(home, file));
});
if (programs.length === 0) throw new Error("No Python program was found below packages/*/src.");

for (const program of programs) {
  const text = readFileSync(join(root, program), "utf8");
  for (const { code, message, start_location: start } of ruff.check(text))
    complain(`${program}:${start.row}:${start.column} ${code ?? "syntax"} ${message}`);
  const formatted = ruff.format(text);
  if (formatted === text) continue;
  if (writing) writeFileSync(join(root, program), formatted);
  else complain(`${program} is not formatted. Run "npm run format".`);
}

function complain(line) {
  console.error(line);
  process.exitCode = 1;
}
