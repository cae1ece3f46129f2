import { setTimeout as sleep } from "node:timers/promises";
import { sides } from "./sides.mjs";

const calls = 10_000;
const inFlight = 50;
const { call } = await sides.ours(process.argv[2]);

await make(calls);
const before = await heapInUse();
await make(calls);
const growth = (await heapInUse()) - before;
console.log(JSON.stringify({ calls, growth: Math.max(0, growth / 1024 ** 2) }));
process.exit();

async function make(count) {
  let left = count;
  const worker = async () => {
    while (left-- > 0) await call();
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
}

/** Resolves with the bytes of heap in use after a garbage collection. */
async function heapInUse() {
  await sleep(100);
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
