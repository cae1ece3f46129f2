/** Tells on stderr what is being measured, because a bench prints its results when it has all. */
export function progress(text) {
  console.error(`  … ${text}`);
}

/** A limit of starts: Node.js 20 keeps no compiled code. */
export const byNode = (on20, newer) => (process.versions.node.startsWith("20.") ? on20 : newer);

/** Median, percentiles and number of samples. */
export function summarize(samples) {
  const sorted = [...samples].sort((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  return { median: at(0.5), p95: at(0.95), p99: at(0.99), count: sorted.length };
}

/**
 * Runs two functions in turn, so that a change of the machine's speed affects both, and compares their medians. `subject`
 * is what is measured, `floor` the least work that could do the same. `settle` runs before each, and its time is not
 * counted. `limit` bounds the ratio of the medians, or the subject's own median if `bound` is "subject".
 */
export async function compare({
  name,
  limit,
  bound,
  rounds,
  floor,
  subject,
  settle = async () => undefined,
}) {
  progress(`${rounds} rounds: ${name}`);
  const samples = { floor: [], subject: [] };
  for (let round = -2; round < rounds; round += 1) {
    for (const [side, work] of [
      ["floor", floor],
      ["subject", subject],
    ]) {
      await settle(side);
      const started = performance.now();
      await work();
      // The first two rounds warm up.
      if (round >= 0) samples[side].push(performance.now() - started);
    }
  }
  return compared({ name, limit, bound, ...samples });
}

/** Compares samples, in milliseconds, that were measured before. `compare` explains the fields. */
export function compared({ name, limit, bound, floor, subject }) {
  const low = summarize(floor);
  const high = summarize(subject);
  return {
    name,
    unit: "ms",
    floor: low.median,
    subject: high.median,
    p95: high.p95,
    ratio: high.median / low.median,
    limit,
    bound,
  };
}

/**
 * The texts of a result for the terminal and the page, and whether its limit holds. Without a limit, that is true.
 */
export function describe({ name, unit, floor, subject, p95, ratio, limit, bound, atLeast }) {
  const digits = unit === "ms" || unit === "%" ? 1 : 0;
  const written = (value) => `${value.toFixed(digits)}${unit && ` ${unit}`}`;
  const isRatio = ratio !== undefined && bound !== "subject";
  const limited = isRatio ? ratio : subject;
  return {
    name,
    holds: limit === undefined || (atLeast ? limited >= limit : limited <= limit),
    isTime: !isRatio && unit === "ms",
    value: isRatio ? `${ratio.toFixed(2)} ×` : written(subject),
    limit:
      limit === undefined
        ? "none"
        : `${atLeast ? "at least" : "at most"} ${limit}${isRatio ? " ×" : unit && ` ${unit}`}`,
    detail: [
      floor !== undefined && `${written(subject)} against ${written(floor)}`,
      !isRatio && ratio !== undefined && `${ratio.toFixed(1)} ×`,
      p95 !== undefined && `p95 ${written(p95)}`,
    ]
      .filter(Boolean)
      .join(", "),
  };
}
