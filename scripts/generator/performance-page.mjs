import { barChart, rounded } from "./bar-chart.mjs";

/** Times of transfers, by the beginning of their results' names. */
const transfers = [
  ["upload of 1 GiB", "upload by the client", "undici.request"],
  ["download of 1 GiB", "download by the client", "undici.request"],
  ["cloud-sandbox cp of 1024 MiB into", "into a sandbox by the command", "curl"],
  ["cloud-sandbox cp of 1024 MiB out of", "out of a sandbox by the command", "curl"],
];

/** The pictures of docs/performance.md, as SVG by name. `results`: those of all benches, as in bench/results.json. */
export function pictures(results) {
  const { instead } = results;
  return {
    time: programsChart(
      instead,
      "From the call of a program that prints 1 to its output",
      "ms",
      (row) => row.print,
    ),
    many: programsChart(
      instead,
      "A hundred at once, until the last has ended",
      "s",
      (row) => row.crowd / 1000,
    ),
    idle: programsChart(instead, "Memory of one that waits", "MiB", (row) => row.memory),
    client: barChart({
      title: "Small calls per second to the same server: longer is better",
      unit: "",
      groups: ["one after the other", "50 in flight"].map((crowd) => callsGroup(results, crowd)),
    }),
    files: barChart({
      title: "A file of 1 GiB: shorter is better",
      unit: "s",
      groups: transfers.map(([name, title, floorName]) => {
        const { floor, subject } = found(results, name);
        return {
          title,
          bars: [
            { label: floorName, value: floor / 1000, side: "floor" },
            { label: "Cloud Sandbox", value: subject / 1000, side: "ours" },
          ],
        };
      }),
    }),
  };
}

/** What the bench `instead` has measured, shortest first. */
function programsChart(instead, title, unit, value) {
  const groups = groupsOf(instead).map(([group, rows]) => ({
    title: group,
    bars: rows
      .map((row) => ({ label: row.name, value: value(row), side: row.side }))
      .sort((a, b) => a.value - b.value),
  }));
  return barChart({ title: `${title}: shorter is better`, unit, groups });
}

function callsGroup(results, crowd) {
  const raw = found(results, `calls, ${crowd}, over undici.request`);
  const watched = found(results, `calls, ${crowd}, with hooks and a log`);
  const vendor = found(results, `calls, ${crowd}, over the vendor's SDK`);
  return {
    title: crowd,
    bars: [
      { label: "undici.request", value: raw.floor, side: "floor" },
      { label: "Cloud Sandbox", value: raw.subject, side: "ours" },
      { label: "Cloud Sandbox, hooks and a log", value: watched.subject, side: "ours" },
      { label: "the vendor's SDK", value: vendor.floor, side: "other" },
    ],
  };
}

/** A table of what runs programs: what it takes, what it isolates from, and what it lacks. `instead`: the results of that bench. */
export function insteadTable(instead) {
  const head = [
    "| | 1 | sum | file | 100 at once | processor | memory | isolated from the program | lacks |",
    "|---|--:|--:|--:|--:|--:|--:|---|---|",
  ];
  const lines = groupsOf(instead).flatMap(([group, rows]) => [
    `| **${group}** | | | | | | | | |`,
    ...rows.map(({ name, print, sum, file, crowd, processor, memory, isolates, lacks }) => {
      const times = [print, sum, file].map((time) => `${rounded(time)} ms`);
      const measured = [
        ...times,
        `${rounded(crowd / 1000)} s`,
        `${rounded(processor)} ms`,
        `${rounded(memory)} MiB`,
      ];
      return `| ${[name, ...measured, isolates, lacks].join(" | ")} |`;
    }),
  ]);
  return [...head, ...lines, ""].join("\n");
}

/** A table of what benches have measured, and of their limits. */
export function resultsTable(results) {
  const lines = Object.entries(results).flatMap(([bench, { results: all }]) =>
    all.map(
      ({ name, value, limit, holds, detail }) =>
        `| \`${bench}\` | ${name} | ${value} | ${limit}${holds ? "" : " **(missed)**"} | ${detail} |`,
    ),
  );
  const head = ["| bench | what | value | limit | made of |", "|---|---|---|---|---|"];
  return [...head, ...lines.sort(), ""].join("\n");
}

/** When and where each bench was run. */
export function machines(results) {
  const runs = new Map();
  for (const [bench, { measured, machine }] of Object.entries(results)) {
    const on = runs.get(machine) ?? new Map();
    on.set(measured, [...(on.get(measured) ?? []), `\`${bench}\``]);
    runs.set(machine, on);
  }
  const sentences = [...runs].map(([machine, days]) => {
    const listed = [...days].sort().map(([day, benches]) => `${benches.sort().join(", ")} on ${day}`);
    return `Measured ${listed.join("; ")}: ${machine}.`;
  });
  return `${sentences.join("\n")}\n`;
}

function groupsOf({ results }) {
  const groups = new Map();
  for (const { row } of results) groups.set(row.group, [...(groups.get(row.group) ?? []), row]);
  return [...groups];
}

function found(results, beginning) {
  const all = Object.values(results).flatMap(({ results: measured }) => measured);
  const result = all.find(({ name }) => name.startsWith(beginning));
  if (result === undefined) throw new Error(`bench/results.json has no "${beginning}"`);
  return result;
}
