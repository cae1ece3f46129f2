import { chown, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SandboxClient } from "cloud-sandbox";
import { progress, summarize } from "./measure.mjs";
import { serve } from "./serve.mjs";

const files = 100_000;
const changed = 1000;

/** Measures how long it takes to list what code changed in a copy of a large directory, and to copy such a directory. */
export async function benchChanges({ long }) {
  const rounds = long ? 30 : 7;
  const directory = await mkdtemp(join(tmpdir(), "changes-"));
  const server = await serve("--runtime", "bubblewrap", "--pool", "0", "--allow-mount", directory);
  const client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
  try {
    progress(`${files} files`);
    await fill(directory);
    const created = performance.now();
    const sandbox = await client.sandboxes.create({
      template: "base",
      mounts: { "/repo": { host: directory, mode: "copy" } },
    });
    const create = performance.now() - created;
    const { stderr } = await sandbox.commands.run(
      `cd /repo && for i in $(seq 0 ${changed - 1}); do echo changed > $((i % 100))/file-$i; done`,
    );
    if (stderr !== "") throw new Error(stderr);
    const samples = [];
    for (let round = 0; round < rounds; round += 1) {
      const started = performance.now();
      const changes = await sandbox.changes();
      samples.push(performance.now() - started);
      if (changes.length !== changed) throw new Error(`${changes.length} changes`);
    }
    await sandbox.delete();
    const { median, p95 } = summarize(samples);
    return [
      {
        name: `changes of ${changed} in ${files.toLocaleString("en")} files`,
        unit: "ms",
        subject: median,
        p95,
        limit: 1000,
      },
      {
        name: `create with a copy of ${files.toLocaleString("en")} files`,
        unit: "ms",
        subject: create,
        limit: 5000,
      },
    ];
  } finally {
    await client.close();
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

/** Makes the files in 100 directories of an ordinary user. */
async function fill(directory) {
  const isRoot = process.getuid?.() === 0;
  const own = async (path) => isRoot && chown(path, 65_534, 65_534);
  for (let index = 0; index < 100; index += 1) {
    await mkdir(join(directory, String(index)));
    await own(join(directory, String(index)));
  }
  for (let start = 0; start < files; start += 100)
    await Promise.all(
      Array.from({ length: 100 }, async (_, index) => {
        const path = join(directory, String(index), `file-${start + index}`);
        await writeFile(path, "x".repeat(200));
        await own(path);
      }),
    );
  await own(directory);
}
