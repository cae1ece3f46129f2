import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SandboxClient } from "cloud-sandbox";
import { compare, progress, summarize } from "./measure.mjs";
import { serve } from "./serve.mjs";

const files = 2000;
const fileBytes = 50 * 1024;

/** Tells the longest time that it did not run, in milliseconds, whenever it is asked to. */
const watch = `
import os, time
longest, last = 0, time.monotonic()
while True:
    now = time.monotonic()
    longest, last = max(longest, now - last), now
    if os.path.exists("/tmp/ask"):
        os.remove("/tmp/ask")
        with open("/tmp/told.part", "w") as told: told.write(str(longest * 1000))
        os.rename("/tmp/told.part", "/tmp/told")
        longest = 0
    time.sleep(0.0005)
`;

/** Measures snapshots, and sandboxes that begin with them. The floor is a copy of the same files on the same disk, or a plain create. */
export async function benchSnapshots({ long }) {
  const rounds = long ? 30 : 7;
  const directory = mkdtempSync(join(tmpdir(), "snapshots-"));
  const tree = join(directory, "tree");
  const server = await serve("--runtime", "bubblewrap", "--pool", "0", "--data-dir", join(directory, "data"));
  const client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
  try {
    for (let index = 0; index < files; index += 1) {
      if (index % 100 === 0) mkdirSync(join(tree, String(index / 100)), { recursive: true });
      writeFileSync(join(tree, String(Math.floor(index / 100)), `file-${index}`), randomBytes(fileBytes));
    }
    const sandbox = await client.sandboxes.create({ template: "base" });
    await sandbox.files.uploadDirectory(tree, "/workspace/tree");

    const taken = [];
    const snapshots = await compare({
      name: "snapshot of 100 MB in 2,000 files, against cp -a and sync -f",
      limit: 1.3,
      rounds,
      floor: () => {
        const copy = join(directory, "copy");
        execFileSync("cp", ["-a", tree, copy]);
        execFileSync("sync", ["-f", copy]);
      },
      subject: async () => {
        taken.push(await sandbox.snapshot());
      },
      settle: async () => {
        rmSync(join(directory, "copy"), { recursive: true, force: true });
        for (const { id } of taken.splice(1)) await client.snapshots.delete(id);
      },
    });
    const pause = await pauses(sandbox, client, rounds);

    const [snapshot] = taken;
    const created = [];
    const settle = async () => {
      await Promise.all(created.splice(0).map((one) => one.delete()));
    };
    const create = (options) => async () => {
      created.push(await client.sandboxes.create(options));
    };
    const plain = create({ template: "base" });
    return [
      snapshots,
      { name: "pause of a sandbox while its snapshot is taken", unit: "ms", ...pause, limit: 150 },
      await compare({
        name: "create from the snapshot, against one from its template",
        limit: 2.5,
        rounds,
        floor: plain,
        subject: create({ snapshot }),
        settle,
      }),
      await compare({
        name: "fork of 10 with 100 MB each, against one create",
        limit: 20,
        rounds,
        floor: plain,
        subject: async () => {
          created.push(...(await sandbox.fork({ count: 10 })));
        },
        settle,
      }),
    ];
  } finally {
    await client.close();
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function pauses(sandbox, client, rounds) {
  progress("pauses");
  await sandbox.files.write("/tmp/watch.py", watch);
  await sandbox.commands.runBackground("python3 /tmp/watch.py");
  const ask = async () => {
    await sandbox.files.write("/tmp/ask", "");
    for (;;) {
      const told = await sandbox.files.readText("/tmp/told").catch(() => undefined);
      if (told === undefined) continue;
      await sandbox.files.remove("/tmp/told");
      return Number(told);
    }
  };
  await ask();
  const samples = [];
  for (let round = 0; round < rounds; round += 1) {
    await ask();
    const { id } = await sandbox.snapshot();
    samples.push(await ask());
    await client.snapshots.delete(id);
  }
  const { median, p95 } = summarize(samples);
  return { subject: median, p95 };
}
