// Runs the benches and prints their results. The exit code is 1 if a limit does not hold.
//   node bench/run.mjs [isolated|one-shots|execute|local|attacked|client|mcp|cli|runtimes|desktop|secrets|changes|snapshots|kubernetes|instead …] [--write] [--any-machine] [--long]
//   --write        also writes the results to bench/results.json, and docs/performance.md from it
//   --any-machine  does not check limits on times, because they depend on the machine; ratios and sizes do not
//   --long         runs thousands of one-shots
import { parseArgs } from "node:util";
import { benchAttacked } from "./attacked.mjs";
import { benchChanges } from "./changes.mjs";
import { benchCli } from "./cli.mjs";
import { benchClient } from "./client.mjs";
import { benchDesktop } from "./desktop.mjs";
import { benchExecute } from "./execute.mjs";
import { benchInstead } from "./instead.mjs";
import { benchIsolated } from "./isolated.mjs";
import { benchKubernetes } from "./kubernetes.mjs";
import { benchLocal } from "./local.mjs";
import { benchMcp } from "./mcp.mjs";
import { describe } from "./measure.mjs";
import { benchOneShots } from "./one-shots.mjs";
import { writeResults } from "./results.mjs";
import { benchRuntimes } from "./runtimes.mjs";
import { benchSecrets } from "./secrets.mjs";
import { benchSnapshots } from "./snapshots.mjs";

const benches = {
  isolated: benchIsolated,
  "one-shots": benchOneShots,
  execute: benchExecute,
  local: benchLocal,
  attacked: benchAttacked,
  client: benchClient,
  mcp: benchMcp,
  cli: benchCli,
  runtimes: benchRuntimes,
  desktop: benchDesktop,
  secrets: benchSecrets,
  changes: benchChanges,
  snapshots: benchSnapshots,
  kubernetes: benchKubernetes,
  instead: benchInstead,
};
const { positionals: wanted, values } = parseArgs({
  allowPositionals: true,
  options: {
    write: { type: "boolean", default: false },
    "any-machine": { type: "boolean", default: false },
    long: { type: "boolean", default: false },
  },
});
const unknown = wanted.filter((name) => !(name in benches));
if (unknown.length > 0) {
  console.error(
    `There is no bench named ${unknown.join(", ")}. There are: ${Object.keys(benches).join(", ")}.`,
  );
  process.exit(2);
}

const measured = [];
for (const [name, bench] of Object.entries(benches)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  for (const given of await bench({ long: values.long, anyMachine: values["any-machine"] })) {
    if (given.skipped) {
      console.log(`- ${given.name}: skipped (${given.skipped})`);
      continue;
    }
    const result = describe(given);
    const { holds, value, limit, detail } = result;
    console.log(`${holds ? "✓" : "✗"} ${value}  (${limit})  ${result.name}${detail && `: ${detail}`}`);
    measured.push({ ...given, ...result, bench: name });
  }
}
if (values.write) writeResults(measured);
const decides = ({ isTime }) => !(isTime && values["any-machine"]);
process.exitCode = measured.filter(decides).every(({ holds }) => holds) ? 0 : 1;
