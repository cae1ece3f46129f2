import { benchClient } from "./client.mjs";
import { benchExecute } from "./execute.mjs";
import { benchIsolated } from "./isolated.mjs";
import { benchMcp } from "./mcp.mjs";
import { report } from "./measure.mjs";

const benches = { isolated: benchIsolated, execute: benchExecute, client: benchClient, mcp: benchMcp };
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in benches));
if (unknown.length > 0) {
  console.error(
    `There is no bench named ${unknown.join(", ")}. There are: ${Object.keys(benches).join(", ")}.`,
  );
  process.exit(2);
}

let allHold = true;
for (const [name, bench] of Object.entries(benches)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  for (const result of await bench()) allHold = report(result) && allHold;
}
process.exitCode = allHold ? 0 : 1;
