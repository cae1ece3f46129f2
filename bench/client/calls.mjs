import { summarize } from "../measure.mjs";
import { sides } from "./sides.mjs";

const rounds = 5;
const crowds = [
  { inFlight: 1, calls: 2000, words: "one after the other" },
  { inFlight: 50, calls: 10_000, words: "50 in flight", overRaw: 0.65, overVendor: 3 },
];

/** Measures how many small calls a client makes per second, and the slowest calls (99th percentile). */
export async function measureCalls(url) {
  const results = [];
  for (const { inFlight, calls, words, overRaw, overVendor } of crowds) {
    const { raw, ours, vendor, watched } = await measured(url, inFlight, calls);
    const rates = { unit: "calls/s", subject: ours.rate, atLeast: true };
    const overFloor = (floor) => ({ floor: floor.rate, ratio: ours.rate / floor.rate });
    results.push(
      { name: `calls, ${words}, over undici.request`, ...rates, ...overFloor(raw), limit: overRaw },
      { name: `calls, ${words}, over the vendor's SDK`, ...rates, ...overFloor(vendor), limit: overVendor },
      {
        name: `calls, ${words}, with hooks and a log, over those without`,
        ...rates,
        subject: watched.rate,
        floor: ours.rate,
        ratio: watched.rate / ours.rate,
        limit: 0.75,
      },
      {
        name: `99th percentile of calls, ${words}, over the vendor's SDK (undici.request: ${raw.p99.toFixed(1)} ms)`,
        unit: "ms",
        subject: ours.p99,
        floor: vendor.p99,
        ratio: ours.p99 / vendor.p99,
        limit: 1,
      },
    );
  }
  return results;
}

/**
 * Measures all clients in turn, so that a change of the machine's speed affects all of them. The first round warms up
 * and is not counted.
 */
async function measured(url, inFlight, calls) {
  const opened = await Promise.all(Object.values(sides).map((open) => open(url)));
  const seen = opened.map(() => ({ rates: [], p99s: [] }));
  for (let round = -1; round < rounds; round += 1) {
    for (const [index, { call }] of opened.entries()) {
      const { rate, p99 } = await rush(call, inFlight, calls);
      if (round < 0) continue;
      seen[index].rates.push(rate);
      seen[index].p99s.push(p99);
    }
  }
  await Promise.all(opened.map(({ close }) => close()));
  const values = seen.map(({ rates, p99s }) => ({
    rate: summarize(rates).median,
    p99: summarize(p99s).median,
  }));
  return Object.fromEntries(Object.keys(sides).map((side, index) => [side, values[index]]));
}

async function rush(call, inFlight, calls) {
  const took = [];
  let left = calls;
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      const started = performance.now();
      await call();
      took.push(performance.now() - started);
    }
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: inFlight }, worker));
  return { rate: calls / ((performance.now() - started) / 1000), p99: summarize(took).p99 };
}
