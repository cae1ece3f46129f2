import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { ChaosRun } from "../chaos/chaos-run.js";
import type { ChaosTarget } from "../chaos/chaos-target.js";
import { importBaseImage } from "../support/docker/base-image.js";
import { withoutDocker } from "../support/docker/docker-server.js";
import { type RunningDaemon, startDaemon } from "../support/docker/own-daemon.js";
import { descendants, hostProcesses } from "../support/host-processes.js";

const rounds = Number(process.env.CRASH_ROUNDS ?? 4);
const seed = Number(process.env.CHAOS_SEED ?? 20_260_101);
const warm = 1;

const obstacle = withoutDocker();
// A hundred rounds: CRASH_ROUNDS=100 npx vitest run test/docker/crashes.docker.test.ts
test(`a server that is killed ${rounds} times, and its Docker daemon, lose nothing and leave nothing`, {
  timeout: 180_000 + rounds * 40_000,
}, async ({ skip }) => {
  if (obstacle !== undefined) skip(obstacle);
  const daemon = await startDaemon({ "live-restore": true });
  try {
    const image = await importBaseImage(daemon.host);
    const target = dockerTarget(daemon, image);
    const report = await ChaosRun.run({ kills: rounds, seed, killsGuards: false, target });
    const { acknowledged, lost, orphans, refused, ...numbers } = report;
    console.log(`CHAOS_SEED=${seed}`);
    console.table({ ...numbers, lost: lost.length, orphans: orphans.length });
    console.table(acknowledged);
    expect({ lost, orphans, refused }).toEqual({ lost: [], orphans: [], refused: [] });
    expect(await containersOf(daemon)).toEqual([]);
    expect(shimsOf(daemon)).toEqual([]);
  } finally {
    await daemon.stop();
  }
});

function dockerTarget(daemon: RunningDaemon, image: string): ChaosTarget {
  return {
    options: ["--runtime", "docker", "--pool", String(warm), "--memory-mb", "256"],
    env: { DOCKER_HOST: daemon.host, CLOUD_SANDBOX_DOCKER_IMAGE: image },
    ...{ goesOn: true, isBubblewrap: false },
    interrupt: async () => {
      await daemon.kill();
      await daemon.restart();
    },
    leftovers: async (sandboxes) => {
      const containers = await containersOf(daemon);
      const strays = shimsOf(daemon).filter(({ id }) => !containers.includes(id));
      const most = sandboxes.filter(({ state }) => state === "running" || state === "paused").length + warm;
      return [
        ...strays.map(({ id, pid }) => {
          const held = descendants(pid).map(({ commandLine }) => commandLine.slice(0, 80));
          return `shim: ${id}, which holds ${held.join(", ") || "no process"}`;
        }),
        ...(containers.length > most
          ? [`containers: ${containers.length}, but at most ${most} are used`]
          : []),
      ];
    },
  };
}

async function containersOf({ host }: RunningDaemon): Promise<string[]> {
  const args = ["--host", host, "ps", "--all", "--quiet", "--no-trunc"];
  return (await promisify(execFile)("docker", args)).stdout.split("\n").filter((id) => id !== "");
}

/** The processes of containerd's that hold containers. */
function shimsOf({ directory }: RunningDaemon): { readonly id: string; readonly pid: number }[] {
  return hostProcesses()
    .filter(({ commandLine }) => commandLine.includes(`-address ${directory}/containerd.sock`))
    .flatMap(({ pid, commandLine }) => {
      const id = / -id ([0-9a-f]{64}) /.exec(commandLine)?.[1];
      return id === undefined ? [] : [{ id, pid }];
    });
}
