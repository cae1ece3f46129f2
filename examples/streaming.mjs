/** Reads output while it is written, and writes input to a command while it runs. */
import { SandboxClient } from "cloud-sandbox";

const client = new SandboxClient();
const sandbox = await client.sandboxes.create({ template: "code-interpreter", timeoutSeconds: 300 });
try {
  const code =
    "import time\nfor n in range(3):\n    print('step', n, flush=True)\n    time.sleep(0.2)\n6 * 7";
  const stream = sandbox.executeStream(code, { timeoutSeconds: 60 });
  for await (const event of stream) {
    if (event.type === "stdout") process.stdout.write(event.text);
    if (event.type === "stderr") process.stderr.write(event.text);
  }
  const { exitCode, executionTimeSeconds, value } = await stream.result();
  console.log(`It ended with ${exitCode} after ${executionTimeSeconds} s; its last value is ${value}.`);

  const sort = sandbox.commands.stream(["sort", "-n"], { stdin: "10\n9\n8\n" });
  for await (const event of sort) if (event.type === "stdout") process.stdout.write(event.text);
} finally {
  await sandbox.delete();
  await client.close();
}
