import { availableParallelism } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { busyMs } from "../machine-usage.mjs";
import { compared, progress } from "../measure.mjs";
import { residentMemory } from "../process-usage.mjs";

const atOnce = 200;
const concurrency = 2 * availableParallelism();

/**
 * Measures many programs: 200 at once, and a series with twice as many at a time as there are processors. For the
 * series also processor time, and by how much the server's memory grows.
 */
export async function measureMany({ floor, subject, long, pid }) {
  const bursts = { floor: [], subject: [] };
  const bursting = long ? 3 : 2;
  for (let round = 0; round < bursting; round += 1) {
    progress(`${atOnce} at once, round ${round + 1} of ${bursting}`);
    for (const [side, work] of [
      ["floor", floor],
      ["subject", subject],
    ])
      bursts[side].push((await together(work, atOnce, atOnce)).milliseconds);
  }
  // Run programs before the first look at the server's memory: what it allocated for the burst must not count as
  // growth.
  await together(subject, 50, concurrency);
  const before = residentMemory(pid);
  const [rounds, each, eachFloor] = long ? [4, 500, 125] : [2, 100, 100];
  const rates = { floor: [], subject: [] };
  const costs = { floor: [], subject: [] };
  for (let round = 0; round < rounds; round += 1) {
    progress(
      `${round * each} of ${rounds * each} in a series; ${residentMemory(pid).toFixed(0)} MB of memory`,
    );
    for (const [side, work, count] of [
      ["floor", floor, eachFloor],
      ["subject", subject, each],
    ]) {
      const { milliseconds, processorMs } = await together(work, count, concurrency);
      rates[side].push((count / milliseconds) * 1000);
      costs[side].push(processorMs / count);
    }
  }
  const programs = rounds * each;
  return [
    compared({
      name: `${atOnce} one-shots at once, to the last, over as many of bubblewrap with python3`,
      limit: 1.5,
      ...bursts,
    }),
    {
      ...compared({
        name: `${programs.toLocaleString("en")} one-shots, ${concurrency} at a time, over bubblewrap with python3, as many at a time`,
        limit: 0.7,
        ...rates,
      }),
      unit: "programs/s",
      atLeast: true,
      p95: undefined,
    },
    compared({
      name: "processor time of a one-shot, all processes, over bubblewrap with python3",
      limit: 1.5,
      ...costs,
    }),
    {
      name: `growth of the server's resident memory by ${programs.toLocaleString("en")} one-shots`,
      unit: "MB",
      subject: residentMemory(pid) - before,
      limit: 16,
    },
  ];
}

/**
 * Does `work` `count` times, `width` at a time. The processor time is that of the whole machine, because the kernel
 * does not list processes that have ended.
 */
async function together(work, count, width) {
  const processor = busyMs();
  const started = performance.now();
  let begun = 0;
  const worker = async () => {
    while (begun < count) {
      begun += 1;
      await work();
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
  const milliseconds = performance.now() - started;
  // Include the kernel's work after a program's end: it dismantles namespaces only then.
  await sleep(300);
  return { milliseconds, processorMs: busyMs() - processor };
}
