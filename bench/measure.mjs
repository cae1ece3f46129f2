/** Median and spread of what was measured, in milliseconds. */
export function summarize(samples) {
  const sorted = [...samples].sort((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  return { median: at(0.5), p95: at(0.95), count: sorted.length };
}

/**
 * Runs a floor and a subject by turns, so that both meet the same machine, and compares their medians.
 * `settle` runs before each, outside the clock.
 */
export async function compare({ name, limit, rounds, floor, subject, settle = async () => undefined }) {
  const samples = { floor: [], subject: [] };
  for (let round = -2; round < rounds; round += 1) {
    for (const [side, work] of [
      ["floor", floor],
      ["subject", subject],
    ]) {
      await settle(side);
      const started = performance.now();
      await work();
      // The first two rounds warm both sides up.
      if (round >= 0) samples[side].push(performance.now() - started);
    }
  }
  const low = summarize(samples.floor);
  const high = summarize(samples.subject);
  return {
    name,
    unit: "ms",
    floor: low.median,
    subject: high.median,
    p95: high.p95,
    ratio: high.median / low.median,
    limit,
  };
}

/** One line a result: the ratio first, since it is what means the same on every machine. */
export function report({ name, unit, floor, subject, ratio, limit, atLeast }) {
  const holds = atLeast ? ratio >= limit : ratio <= limit;
  const bound = `${atLeast ? "at least" : "at most"} ${limit}`;
  const figures = `${subject.toFixed(unit === "ms" ? 1 : 0)} against ${floor.toFixed(unit === "ms" ? 1 : 0)} ${unit}`;
  console.log(`${holds ? "✓" : "✗"} ${ratio.toFixed(2)}  (${bound})  ${name}: ${figures}`);
  return holds;
}
