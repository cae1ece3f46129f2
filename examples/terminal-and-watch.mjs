/** Opens an interactive shell, and watches the files that the shell changes. */
import { SandboxClient } from "cloud-sandbox";

const client = new SandboxClient();
const sandbox = await client.sandboxes.create({ template: "base", timeoutSeconds: 300 });
try {
  const watch = sandbox.files.watch("/workspace");
  await watch.ready();

  const terminal = await sandbox.terminal.open({ cols: 100, rows: 30 });
  await terminal.write("cd /workspace && echo hello > note.txt; exit\r");
  for await (const text of terminal) process.stdout.write(text);
  console.log(`The shell ended with ${await terminal.exitCode()}.`);

  for await (const { event, path } of watch) {
    console.log(event, path);
    if (path.endsWith("note.txt")) break;
  }
} finally {
  await sandbox.delete();
  await client.close();
}
