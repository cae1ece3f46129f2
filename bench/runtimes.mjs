import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dockerObstacle, gvisorObstacle, runContainer, saveImage, startContainer } from "./docker.mjs";
import { run } from "./isolated.mjs";
import { compare } from "./measure.mjs";
import { withBareAgent } from "./runtimes/bare-agent.mjs";
import { RuntimeServers } from "./runtimes/runtime-servers.mjs";

/** The image that the docker runtime starts sandboxes from, by the same variable as the server. */
const image = process.env.CLOUD_SANDBOX_DOCKER_IMAGE ?? "python:3.12-slim";

/**
 * Measures the runtimes of the local server against each other and against floors: from a create to the end of `node -v`
 * with and without a waiting machine, and calls of execute. Docker's are skipped where no daemon has an image.
 */
export async function benchRuntimes({ long }) {
  const rounds = long ? 30 : 12;
  const opened = [];
  const open = async (...args) => {
    opened.push(await RuntimeServers.start(...args));
    return opened.at(-1);
  };
  try {
    const bubblewrap = await open("--runtime", "bubblewrap");
    const results = [
      await compare({
        name: "bubblewrap, create to the end of node -v, over a bare node -v",
        rounds,
        floor: () => run([process.execPath, "-v"]),
        subject: () => bubblewrap.firstCommand(),
        settle: () => bubblewrap.settle(),
      }),
    ];
    if (process.getuid() === 0)
      results.push(
        await rootInside(bubblewrap, await open("--runtime", "bubblewrap", "--root-inside"), rounds),
      );
    const withoutDocker = await dockerObstacle(image);
    if (withoutDocker) return [...results, { name: "the docker runtime", skipped: withoutDocker }];
    const docker = await open("--runtime", "docker");
    results.push(...(await containers(bubblewrap, docker, rounds)));
    results.push(await importedImage(bubblewrap, rounds));
    const withoutGvisor = await gvisorObstacle(image);
    if (withoutGvisor)
      return [...results, { name: "the docker runtime with gVisor", skipped: withoutGvisor }];
    const gvisor = await open("--runtime", "docker", "--docker-runtime", "runsc");
    return [...results, ...(await underGvisor(bubblewrap, gvisor, rounds))];
  } finally {
    for (const servers of opened) await servers.stop();
  }
}

/** What it costs a boot that code is root. */
async function rootInside(bubblewrap, root, rounds) {
  const { floor, subject, p95 } = await compare({
    name: "bubblewrap with root inside, create without a waiting machine, over one without",
    rounds: 2 * rounds,
    ...sides(bubblewrap, root, (servers) => servers.boot()),
  });
  return {
    name: `bubblewrap with root inside, what a create without a waiting machine takes longer (${subject.toFixed(1)} ms against ${floor.toFixed(1)} ms, p95 ${p95.toFixed(1)} ms)`,
    unit: "ms",
    subject: subject - floor,
    limit: 5,
  };
}

async function containers(bubblewrap, docker, rounds) {
  return [
    await compare({
      name: "docker, create to the end of node -v, over bubblewrap's",
      limit: 1.5,
      rounds,
      ...sides(bubblewrap, docker, (servers) => servers.firstCommand()),
    }),
    await compare({
      name: "docker, create to the end of node -v, over docker run --rm true",
      rounds,
      floor: () => runContainer(image, "true"),
      subject: () => docker.firstCommand(),
      settle: () => docker.settle(),
    }),
    await withBareAgent(async (startAgent) => {
      const ends = [];
      const result = await compare({
        name: "docker, create without a waiting machine, over docker run --detach and the start of a bare agent",
        limit: 1.3,
        rounds,
        floor: async () => {
          ends.push(await startContainer(image));
          ends.push(await startAgent());
        },
        subject: () => docker.boot(),
        settle: async () => {
          await Promise.all(ends.splice(0).map((end) => end()));
          await docker.settle();
        },
      });
      await Promise.all(ends.map((end) => end()));
      return result;
    }),
    await executions("docker", bubblewrap, docker, 1.2, rounds),
  ];
}

async function underGvisor(bubblewrap, gvisor, rounds) {
  return [
    await compare({
      name: "docker with gVisor, create to the end of node -v, over bubblewrap's",
      rounds,
      ...sides(bubblewrap, gvisor, (servers) => servers.firstCommand()),
    }),
    await compare({
      name: "docker with gVisor, create without a waiting machine, over bubblewrap's",
      rounds,
      ...sides(bubblewrap, gvisor, (servers) => servers.boot()),
    }),
    await executions("docker with gVisor", bubblewrap, gvisor, undefined, rounds),
  ];
}

/** Calls of execute in one sandbox of each: a line in a context of Python. */
async function executions(name, bubblewrap, other, limit, rounds) {
  const [floor, subject] = [await bubblewrap.boot(), await other.boot()];
  const execute = (sandbox) => sandbox.execute("x = 1", { language: "python" });
  const result = await compare({
    name: `${name}, execute("x = 1") in a context, over bubblewrap's`,
    limit,
    rounds: 10 * rounds,
    floor: () => execute(floor),
    subject: () => execute(subject),
  });
  await bubblewrap.settle();
  await other.settle();
  return result;
}

/** The boot of a template that is an image's files, over that of one with the files of this machine. */
async function importedImage(bubblewrap, rounds) {
  const directory = mkdtempSync(join(tmpdir(), "bench-"));
  const file = join(directory, "image.tar");
  try {
    await saveImage(image, file);
    await bubblewrap.cold.client.templates.import(file, { name: "imported" });
    return await compare({
      name: "bubblewrap, create from an imported image without a waiting machine, over one with this machine's programs",
      limit: 1.1,
      rounds: 2 * rounds,
      floor: () => bubblewrap.boot(),
      subject: () => bubblewrap.boot("imported"),
      settle: () => bubblewrap.settle(),
    });
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** The sides of a comparison of two runtimes. */
function sides(floor, subject, work) {
  return {
    floor: () => work(floor),
    subject: () => work(subject),
    settle: async () => {
      await floor.settle();
      await subject.settle();
    },
  };
}
