import { setTimeout as sleep } from "node:timers/promises";
import { SandboxClient } from "cloud-sandbox";
import { progress, summarize } from "./measure.mjs";
import { serve } from "./serve.mjs";

const typed = "The quick brown fox jumps over it. ".repeat(29).slice(0, 1000);

/**
 * Measures desktops of the local server: the time to the first picture with and without a waiting machine, pictures, clicks that change
 * the screen, typing, and the memory of a desktop that nobody uses. Skipped where the template is missing.
 */
export async function benchDesktop({ long }) {
  const rounds = long ? 30 : 10;
  const server = await serve("--runtime", "bubblewrap", "--pool", "1");
  const client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
  try {
    const template = await client.templates.get("desktop").catch(() => undefined);
    if (!template) return [{ name: "desktops", skipped: '"cloud-sandbox-local setup desktop" was not run' }];
    return [...(await starts(client, Math.ceil(rounds / 2))), ...(await operations(client, rounds))];
  } finally {
    await client.close();
    await server.stop();
  }
}

async function starts(client, rounds) {
  progress(`${rounds} rounds: the first picture`);
  const samples = { cold: [], waiting: [] };
  for (let round = 0; round < rounds; round += 1) {
    // No machine waits for a template that was not used, or that has just given its own away.
    for (const kind of ["cold", "waiting"]) {
      const sandbox = await client.sandboxes.create({ template: "desktop", ...(kind === "cold" && cold) });
      samples[kind].push(await milliseconds(() => sandbox.desktop.screenshot()));
      await sandbox.delete();
      await sleep(3000);
    }
  }
  return [
    result("the first picture of a desktop", samples.cold, 1000),
    result("the first picture of a desktop whose machine waited", samples.waiting, 200),
  ];
}

/** Machines that wait have the limits of the template: others are started. */
const cold = { limits: { memoryMb: 1500 } };

async function operations(client, rounds) {
  progress(`${rounds} rounds: pictures, clicks and typing`);
  const sandbox = await client.sandboxes.create({ template: "desktop" });
  const { desktop } = sandbox;
  await desktop.screenshot();
  const memory = await idleMemory(sandbox);
  await sandbox.commands.runBackground("xterm -geometry 100x40+0+0 -e 'cat > typed'");
  while ((await desktop.windows.list()).length === 0) await sleep(100);
  const samples = { pictures: [], clicks: [], typing: [] };
  for (let round = 0; round < rounds; round += 1) {
    samples.pictures.push(await milliseconds(() => desktop.screenshot()));
    samples.clicks.push(
      await milliseconds(async () => {
        await desktop.mouse.click({ x: 100 + round, y: 100 });
        await desktop.screenshot();
      }),
    );
    samples.typing.push(await milliseconds(() => desktop.keyboard.type(`${typed}\n`)));
  }
  await sandbox.delete();
  return [
    result("a picture of a desktop", samples.pictures, 150),
    result("a click on a desktop, and a picture after it", samples.clicks, 250),
    result("typing 1,000 characters on a desktop", samples.typing, 1000),
    { name: "memory (PSS) of a desktop that nobody uses", unit: "MiB", subject: memory, limit: 80 },
  ];
}

async function idleMemory(sandbox) {
  const pids = (await sandbox.desktop.processes()).map(({ pid }) => pid).join(",");
  const command = `cat /proc/{${pids},}/smaps_rollup 2>/dev/null | awk '/^Pss:/ { sum += $2 } END { print sum }'`;
  return Number((await sandbox.commands.run(command)).stdout) / 1024;
}

async function milliseconds(work) {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

function result(name, samples, limit) {
  const { median, p95 } = summarize(samples);
  return { name, unit: "ms", subject: median, p95, limit };
}
