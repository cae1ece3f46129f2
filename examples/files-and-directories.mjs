/** Uploads files of this machine, works on them in a sandbox, and downloads the results. All of it is streamed. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SandboxClient } from "cloud-sandbox";

const here = await mkdtemp(join(tmpdir(), "example-"));
const client = new SandboxClient();
const sandbox = await client.sandboxes.create({ timeoutSeconds: 300 });
try {
  await writeFile(join(here, "words.txt"), "pear apple fig\n".repeat(100_000));
  await sandbox.files.upload(join(here, "words.txt"), "in/words.txt", {
    onProgress: ({ bytes, total }) => console.log(`sent ${bytes} of ${total} bytes`),
  });

  const run = await sandbox.commands.run(
    "mkdir -p out && tr ' ' '\\n' < in/words.txt | sort | uniq -c > out/counts.txt && wc -c < in/words.txt > out/size.txt",
  );
  if (run.exitCode !== 0) throw new Error(run.stderr);
  for await (const { path, size } of sandbox.files.walk("/workspace")) console.log(path, size);

  await sandbox.files.downloadDirectory("out", join(here, "out"));
  console.log(await readFile(join(here, "out", "counts.txt"), "utf8"));
} finally {
  await sandbox.delete();
  await client.close();
  await rm(here, { recursive: true });
}
