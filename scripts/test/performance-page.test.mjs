import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { barChart } from "../generator/bar-chart.mjs";
import { insteadTable, machines, pictures, resultsTable } from "../generator/performance-page.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const results = JSON.parse(readFileSync(join(root, "bench/results.json"), "utf8"));

const bars = [
  { label: "a & b", value: 1480, side: "other" },
  { label: "ours", value: 370, side: "ours" },
  { label: "bare", value: 0.05, side: "floor" },
];
/** The bars of a picture, from top to bottom. */
const drawn = (svg) =>
  [
    ...svg.matchAll(
      /^<text x="16" y="\d+">([^<]*)<\/text>\n<rect class="(\w+)" .* width="([\d.]+)" .*\n<text .*>([^<]*)<\/text>$/gm,
    ),
  ].map(([, label, side, length, value]) => ({ label, side, length: Number(length), value }));

test("bars are as long as their values, and say them", () => {
  const svg = barChart({ title: "A chart", unit: "ms", groups: [{ title: "A group", bars }] });
  expect(drawn(svg)).toEqual([
    { label: "a &amp; b", side: "other", length: 380, value: "1,480 ms" },
    { label: "ours", side: "ours", length: 95, value: "370 ms" },
    { label: "bare", side: "floor", length: 2, value: "0.05 ms" },
  ]);
});

test("a legend explains the fills that a picture has, and no others", () => {
  const chart = (sides) =>
    barChart({
      title: "A chart",
      unit: "",
      groups: [{ title: "", bars: bars.filter(({ side }) => sides.includes(side)) }],
    });
  expect(chart(["ours", "floor"])).toContain("the least that could do it");
  expect(chart(["ours", "floor"])).not.toContain("what people use instead");
});

test("every picture is on the page, and its labels fit beside its bars", () => {
  const page = readFileSync(join(root, "docs/performance.md"), "utf8");
  for (const [name, svg] of Object.entries(pictures(results))) {
    expect(page).toContain(`](generated/${name}.svg)`);
    expect(drawn(svg).length).toBeGreaterThan(5);
    expect(drawn(svg).filter(({ label }) => label.length > 31)).toEqual([]);
  }
});

test("the pictures of programs have the shortest bar of a group first", () => {
  const { print: _, ...row } = results.instead.results[0].row;
  const rows = [3, 1, 2].map((print) => ({ name: "", row: { ...row, name: `takes ${print}`, print } }));
  const { time } = pictures({ ...results, instead: { results: rows } });
  expect(drawn(time).map(({ label }) => label)).toEqual(["takes 1", "takes 2", "takes 3"]);
});

test("a picture without its result says which", () => {
  expect(() => pictures({ ...results, client: { results: [] } })).toThrow(
    'bench/results.json has no "calls, one after the other, over undici.request"',
  );
});

test("the tables have the results of every bench, and tell which limits were missed", () => {
  const result = { name: "a call", value: "2 ms", detail: "", limit: "at most 1 ms" };
  const row = {
    ...{ name: "docker run", group: "Python", isolates: "files", lacks: "rules" },
    ...{ print: 268.4, sum: 9.876, file: 31.23, crowd: 31_200, processor: 0.512, memory: 20 },
  };
  const measured = {
    b: { measured: "2026-11-02", machine: "4 processors", results: [{ ...result, holds: false }] },
    a: { measured: "2026-11-01", machine: "4 processors", results: [{ ...result, holds: true }] },
  };
  expect(resultsTable(measured).trim().split("\n").slice(2)).toEqual([
    "| `a` | a call | 2 ms | at most 1 ms |  |",
    "| `b` | a call | 2 ms | at most 1 ms **(missed)** |  |",
  ]);
  expect(
    insteadTable({ results: [{ row }] })
      .trim()
      .split("\n")
      .slice(2),
  ).toEqual([
    "| **Python** | | | | | | | | |",
    "| docker run | 268 ms | 9.88 ms | 31.2 ms | 31.2 s | 0.51 ms | 20 MiB | files | rules |",
  ]);
  expect(machines(measured)).toBe("Measured `a` on 2026-11-01; `b` on 2026-11-02: 4 processors.\n");
});
