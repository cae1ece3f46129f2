import { expect, test } from "vitest";
import { ChaosRun } from "./chaos-run.js";

const kills = Number(process.env.CHAOS_KILLS ?? 8);
const seed = Number(process.env.CHAOS_SEED ?? 20_260_101);

// Hundreds of kills: CHAOS_KILLS=300 npx vitest run test/chaos
test(`a server that is killed ${kills} times under load loses nothing and leaves nothing`, {
  timeout: 180_000 + kills * 30_000,
}, async () => {
  const { acknowledged, lost, orphans, refused, ...numbers } = await ChaosRun.run(kills, seed);
  console.log(`CHAOS_SEED=${seed}`);
  console.table({ ...numbers, lost: lost.length, orphans: orphans.length });
  console.table(acknowledged);
  expect({ lost, orphans, refused }).toEqual({ lost: [], orphans: [], refused: [] });
});
