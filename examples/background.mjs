/**
 * Runs code in the background and follows its output until it ends. Then starts a server in the background and kills
 * it.
 */
import { SandboxClient } from "cloud-sandbox";

const client = new SandboxClient();
const sandbox = await client.sandboxes.create({ template: "code-interpreter", timeoutSeconds: 600 });
try {
  const code = "import time\nfor part in range(5):\n    print('part', part, flush=True)\n    time.sleep(0.1)";
  const job = await sandbox.executeBackground(code, { name: "training", timeoutSeconds: 500 });
  console.log(job.id, (await job.status()).status);
  for await (const { text } of job.follow()) process.stdout.write(text);
  const end = await job.wait();
  console.log(`It is ${end.status} after ${end.durationSeconds} s.`);

  const server = await sandbox.commands.runBackground("python3 -m http.server 8000", { name: "server" });
  for (const { name, status } of await sandbox.processes.list()) console.log(name, status);
  await server.kill();
  console.log("The server is", (await server.wait()).status);
} finally {
  await sandbox.delete();
  await client.close();
}
