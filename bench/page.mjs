import { readFileSync, writeFileSync } from "node:fs";
import { cpus, release, totalmem } from "node:os";
import { fileURLToPath } from "node:url";

const page = fileURLToPath(new URL("../docs/performance.md", import.meta.url));
const [begin, end] = ["<!-- measured: begin -->", "<!-- measured: end -->"];

/**
 * Writes results to docs/performance.md, between its two markers. Lines of a bench that did not run stay as they are.
 */
export function writePage(measured) {
  const text = readFileSync(page, "utf8");
  const [before, rest] = text.split(begin);
  const [table, after] = rest.split(end);
  const benches = new Set(measured.map(({ bench }) => bench));
  const kept = table
    .split("\n")
    .filter((line) => line.startsWith("| `") && !benches.has(/`([\w-]+)`/.exec(line)[1]));
  const lines = measured.map(
    ({ bench, name, value, limit, detail, holds }) =>
      `| \`${bench}\` | ${name} | ${value} | ${limit}${holds ? "" : " **(missed)**"} | ${detail} |`,
  );
  const head = "| bench | what | value | limit | made of |\n|---|---|---|---|---|";
  const now = [begin, machine(), "", head, ...[...kept, ...lines].sort(), end].join("\n");
  writeFileSync(page, `${before}${now}${after}`);
}

function machine() {
  const processors = cpus();
  const gibibytes = Math.round(totalmem() / 1024 ** 3);
  return `Measured on ${new Date().toISOString().slice(0, 10)}: ${processors.length} × ${processors[0].model.trim()}, ${gibibytes} GiB, Linux ${release()}, Node ${process.versions.node}, ${process.getuid() === 0 ? "started by root" : "started by an ordinary user"}.`;
}
