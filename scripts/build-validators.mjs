#!/usr/bin/env node
// Compiles the validators of the contracts into packages/server-kit/dist, from which the package's source imports them.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { validatorsModule } from "./generator/contract-module.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "packages/server-kit/dist");

mkdirSync(dist, { recursive: true });
for (const file of readdirSync(join(root, "openapi"))) {
  const document = parse(readFileSync(join(root, "openapi", file), "utf8"));
  writeFileSync(join(dist, file.replace(/\.yaml$/, "-validators.js")), validatorsModule(document));
}
