import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { cpus, release, totalmem } from "node:os";
import { fileURLToPath } from "node:url";

const file = fileURLToPath(new URL("results.json", import.meta.url));
const generate = fileURLToPath(new URL("../scripts/generate.mjs", import.meta.url));

/** What the page and its pictures need of a result. */
const kept = ["name", "value", "limit", "holds", "detail", "subject", "floor", "row"];

/**
 * Writes results to bench/results.json, and docs/performance.md and its pictures from it. Those of a bench that did not run stay as they are.
 */
export function writeResults(measured) {
  const all = JSON.parse(readFileSync(file, "utf8"));
  for (const name of new Set(measured.map(({ bench }) => bench))) {
    const results = measured
      .filter(({ bench }) => bench === name)
      .map((result) => Object.fromEntries(kept.map((field) => [field, result[field]])));
    all[name] = { measured: new Date().toISOString().slice(0, 10), machine: machine(), results };
  }
  // A fourth digit changes with every run.
  const threeDigits = (_, value) => (typeof value === "number" ? Number(value.toPrecision(3)) : value);
  writeFileSync(file, `${JSON.stringify(all, threeDigits, 2)}\n`);
  const { status } = spawnSync(process.execPath, [generate], { stdio: "inherit" });
  if (status !== 0) throw new Error("docs/performance.md could not be written");
}

function machine() {
  const processors = cpus();
  const gibibytes = Math.round(totalmem() / 1024 ** 3);
  return `${processors.length} × ${processors[0].model.trim()}, ${gibibytes} GiB, Linux ${release().split("-")[0]}, Node ${process.versions.node}, ${process.getuid() === 0 ? "started by root" : "started by an ordinary user"}`;
}
