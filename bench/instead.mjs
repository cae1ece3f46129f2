import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Alternatives } from "./instead/alternatives.mjs";
import { fileLength, outputs } from "./instead/programs.mjs";
import { busyMs } from "./machine-usage.mjs";
import { progress, summarize } from "./measure.mjs";
import { familiesOf, isStartedWith, proportionalMemory } from "./process-usage.mjs";

const crowd = 100;
const held = 5;
/** The time in which a server starts another program that waits, and the kernel takes away what has ended. */
const quiet = () => sleep(300);

/**
 * Runs the same programs through what people use for code that they do not trust, and through this project: three of them one at a time, a
 * hundred of the first at once, and some that wait, for their memory. Starts a Docker daemon of its own. What does not work here is skipped.
 */
export async function benchInstead({ long }) {
  const directory = mkdtempSync(join(tmpdir(), "bench-"));
  // bubblewrap mounts this directory as another user, who must be able to write to it.
  chmodSync(directory, 0o777);
  writeFileSync(join(directory, "file"), "x".repeat(fileLength));
  const alternatives = await Alternatives.open(directory);
  const { opened, skipped, places } = alternatives;
  try {
    const times = await timed(opened, long ? 20 : 5);
    const results = [];
    for (const [index, { description, run, hold }] of opened.entries()) {
      progress(`${crowd} at once: ${description.group}: ${description.name}`);
      const row = {
        ...description,
        ...times[index],
        // Before the rush, which leaves memory in its process that is then used again.
        memory: await memoryOf(hold, places),
        ...(await rush(run, long ? 3 : 1)),
      };
      results.push({ name: `${row.group}: ${row.name}, print(1)`, unit: "ms", subject: row.print, row });
    }
    return [...results, ...skipped];
  } finally {
    await alternatives.close();
    rmSync(directory, { recursive: true });
  }
}

/** The medians in milliseconds of each program, run through all in turn, so that a change of the machine's speed affects all of them. */
async function timed(opened, rounds) {
  const medians = opened.map(() => ({}));
  for (const program of Object.keys(outputs)) {
    progress(`${rounds} rounds: ${program}`);
    const took = opened.map(() => []);
    for (let round = -1; round < rounds; round += 1) {
      for (const [index, { run }] of opened.entries()) {
        await quiet();
        const started = performance.now();
        await expectOutput(run, program);
        // The first round warms up.
        if (round >= 0) took[index].push(performance.now() - started);
      }
    }
    took.forEach((samples, index) => {
      medians[index][program] = summarize(samples).median;
    });
  }
  return medians;
}

/** Milliseconds until the last of a hundred programs that start at once has ended, and processor time of the whole machine for each. */
async function rush(run, rounds) {
  const took = [];
  const busy = [];
  for (let round = 0; round < rounds; round += 1) {
    await quiet();
    const before = busyMs();
    const started = performance.now();
    await Promise.all(Array.from({ length: crowd }, () => expectOutput(run, "print")));
    took.push(performance.now() - started);
    await quiet();
    busy.push((busyMs() - before) / crowd);
  }
  return { crowd: summarize(took).median, processor: summarize(busy).median };
}

/** MiB for each one that waits, of all processes that the bench has started. */
async function memoryOf(hold, places) {
  const before = await settledMemory(places);
  const releases = await Promise.all(Array.from({ length: held }, hold));
  const memory = ((await settledMemory(places)) - before) / held;
  await Promise.all(releases.map((release) => release()));
  return memory;
}

/** The memory when it no longer changes: servers start and end what waits. */
async function settledMemory(places) {
  for (let last = 0; ; ) {
    const memory = memoryOfAll(places);
    if (Math.abs(memory - last) < 1) return memory;
    last = memory;
    await quiet();
  }
}

/** A container is no descendant of the program that starts it: its ancestor is known by the place that its command line names. */
function memoryOfAll(places) {
  const isAncestor = (pid) => pid === process.pid || places.some((place) => isStartedWith(pid, place));
  return proportionalMemory(familiesOf(isAncestor).filter((pid) => pid !== process.pid));
}

async function expectOutput(run, program) {
  const output = await run(program);
  if (output !== outputs[program]) throw new Error(`Unexpected output: ${output}`);
}
