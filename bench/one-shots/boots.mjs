import { setTimeout as sleep } from "node:timers/promises";
import { run } from "../isolated.mjs";
import { compare, compared, progress } from "../measure.mjs";

const crowd = 100;

/**
 * Measures creates for which no booted machine waits, against bare starts of Node.js: one at a time, and with `long`
 * also a hundred at once.
 */
export async function measureBoots(client, long) {
  const made = [];
  const boot = await compare({
    name: "create without a waiting machine (the agent's boot, spawn to ready), over a bare node -e 0",
    limit: 2.5,
    rounds: long ? 30 : 15,
    floor: () => run([process.execPath, "-e", "0"]),
    subject: async () => {
      made.push(await client.sandboxes.create({ template: "code-interpreter" }));
    },
    settle: async () => {
      await Promise.all(made.splice(0).map((sandbox) => sandbox.delete()));
      await sleep(300);
    },
  });
  await Promise.all(made.splice(0).map((sandbox) => sandbox.delete()));
  if (!long) return [boot];
  progress(`${crowd} creates at once`);
  return [
    boot,
    compared({
      name: `${crowd} creates at once, to the end of the last node -v, over as many bare node -e 0 at once`,
      floor: [await timed(() => all(() => run([process.execPath, "-e", "0"])))],
      subject: [
        await timed(() =>
          all(async () => {
            const sandbox = await client.sandboxes.create({ template: "code-interpreter" });
            made.push(sandbox);
            const { exitCode } = await sandbox.commands.run(["node", "-v"]);
            if (exitCode !== 0) throw new Error(`node -v ended with ${exitCode}`);
          }),
        ),
      ],
    }),
  ];
}

const all = (work) => Promise.all(Array.from({ length: crowd }, work));

async function timed(work) {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
