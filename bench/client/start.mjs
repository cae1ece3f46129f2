import { fileURLToPath } from "node:url";
import { inFreshProcess } from "../fresh-process.mjs";
import { compared } from "../measure.mjs";

const rounds = 15;
const program = fileURLToPath(new URL("start-process.mjs", import.meta.url));

/** Measures how long a new process takes to import the client, and until its first call is answered. */
export async function measureStarts(url) {
  const samples = { ours: [], vendor: [] };
  for (let round = -1; round < rounds; round += 1) {
    for (const side of ["vendor", "ours"]) {
      const sample = await inFreshProcess([program, side, url]);
      if (round >= 0) samples[side].push(sample);
    }
  }
  const compare = (name, field) =>
    compared({
      name,
      limit: 1,
      floor: samples.vendor.map((sample) => sample[field]),
      subject: samples.ours.map((sample) => sample[field]),
    });
  return [
    compare("import of the client, over the vendor's SDK", "imported"),
    compare("import to the answer to a first call, over the vendor's SDK", "answered"),
  ];
}
