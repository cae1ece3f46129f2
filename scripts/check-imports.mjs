#!/usr/bin/env node
// Holds the arrows of the house: which package may import which. Names every import that breaks one; exit 1 when any does.
import { fileURLToPath } from "node:url";
import { brokenArrows } from "./import-arrows.mjs";

const broken = brokenArrows(fileURLToPath(new URL("..", import.meta.url)));
for (const line of broken) console.error(line);
process.exitCode = broken.length > 0 ? 1 : 0;
