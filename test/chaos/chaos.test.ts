import { expect, test } from "vitest";
import { ChaosRun } from "./chaos-run.js";

const kills = (usual: number): number => Number(process.env.CHAOS_KILLS ?? usual);
const seed = Number(process.env.CHAOS_SEED ?? 20_260_101);

// Hundreds of kills: CHAOS_KILLS=300 npx vitest run test/chaos/chaos.test.ts
test.each([
  [kills(3), "", false],
  [kills(2), ", its guard too,", true],
] as const)(
  "a server that is killed %i times under load%s loses nothing and leaves nothing",
  {
    timeout: 180_000 + kills(3) * 30_000,
  },
  async (kills, _, killsGuards) => {
    const report = await ChaosRun.run({ kills, seed, killsGuards });
    const { acknowledged, lost, orphans, refused, ...numbers } = report;
    console.log(`CHAOS_SEED=${seed}`);
    console.table({ ...numbers, lost: lost.length, orphans: orphans.length });
    console.table(acknowledged);
    expect({ lost, orphans, refused }).toEqual({ lost: [], orphans: [], refused: [] });
  },
);
