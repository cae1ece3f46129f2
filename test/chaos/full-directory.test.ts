import { expect, test } from "vitest";
import { FullDirectoryRun } from "./full-directory-run.js";

const rounds = Number(process.env.FULL_ROUNDS ?? 2);
const seed = Number(process.env.CHAOS_SEED ?? 20_260_101);

// The long form: FULL_ROUNDS=10 npx vitest run test/chaos/full-directory.test.ts
test(`a server whose data directory is filled and freed ${rounds} times under load loses nothing and leaves nothing`, {
  timeout: 120_000 + rounds * 60_000,
  tags: ["mount"],
}, async () => {
  const { acknowledged, lost, orphans, undocumented, ...numbers } = await FullDirectoryRun.run(rounds, seed);
  console.log(`CHAOS_SEED=${seed}`);
  console.table({ ...numbers, lost: lost.length, orphans: orphans.length });
  console.table(acknowledged);
  expect({ lost, orphans, undocumented }).toEqual({ lost: [], orphans: [], undocumented: [] });
  expect(numbers.refusedForRoom).toBeGreaterThan(0);
});
