#!/usr/bin/env node
// Generates packages/protocol/src/generated and docs/reference from openapi/*.yaml.
//   node scripts/generate.mjs            writes the files that changed
//   node scripts/generate.mjs --check    writes nothing; exit 1 when a committed file differs from its contract
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { contractModule } from "./generator/contract-module.mjs";
import { referencePage } from "./generator/reference-page.mjs";
import { typesModule } from "./generator/types-module.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const target = "packages/protocol/src/generated";
const contracts = ["control-plane", "agent"];
const checking = process.argv.includes("--check");

const differing = [];
for (const name of contracts) {
  const source = `openapi/${name}.yaml`;
  if (!existsSync(join(root, source))) {
    console.error(`${source} does not exist: nothing generated for it.`);
    continue;
  }
  const document = parse(readFileSync(join(root, source), "utf8"));
  write(
    `docs/reference/${name}.md`,
    `<!-- Generated from ${source} by scripts/generate.mjs. -->\n\n${referencePage(document)}`,
  );
  const files = { [`${name}.ts`]: await typesModule(document), ...contractModule(name, document) };
  for (const [file, text] of Object.entries(files)) {
    write(
      `${target}/${file}`,
      `// Generated from ${source} by scripts/generate.mjs. Change the contract, then run "npm run generate".\n${text}`,
    );
  }
}

if (checking && differing.length > 0) {
  console.error(
    `Not what the contracts say: ${differing.join(", ")}. Run "npm run generate" and commit the result.`,
  );
  process.exit(1);
}

function write(path, text) {
  const file = join(root, path);
  if (existsSync(file) && readFileSync(file, "utf8") === text) return;
  differing.push(path);
  if (checking) return;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  console.log(`generated ${path}`);
}
