import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { inFreshProcess } from "../fresh-process.mjs";
import { compared } from "../measure.mjs";

const size = 1024 ** 3;
const rounds = 3;
const program = fileURLToPath(new URL("transfer-process.mjs", import.meta.url));

/**
 * Measures time and memory for 1 GiB in both directions. The file is on a disk in memory, so that no real disk is
 * measured.
 */
export async function measureTransfers(url) {
  const directory = mkdtempSync("/dev/shm/cloud-sandbox-bench-");
  const file = join(directory, "file");
  writeFileSync(file, "");
  truncateSync(file, size);
  try {
    const results = [];
    for (const direction of ["upload", "stream", "download"]) {
      const samples = { raw: [], ours: [] };
      for (let round = 0; round < rounds; round += 1) {
        for (const side of ["raw", "ours"]) {
          samples[side].push(await inFreshProcess([program, side, direction, url, file, String(size)]));
        }
      }
      const milliseconds = (side) => samples[side].map((sample) => sample.milliseconds);
      const name = direction === "stream" ? "upload of a stream of 1 GiB" : `${direction} of 1 GiB`;
      results.push(
        compared({
          name: `${name}, over undici.request`,
          limit: direction === "stream" ? 2 : 1.3,
          floor: milliseconds("raw"),
          subject: milliseconds("ours"),
        }),
        {
          name: `growth of resident memory by an ${name}`.replace("an d", "a d"),
          unit: "MiB",
          subject: Math.max(...samples.ours.map(({ growth }) => growth)),
          limit: 64,
        },
      );
    }
    return results;
  } finally {
    rmSync(directory, { recursive: true });
  }
}
