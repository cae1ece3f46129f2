/** Uses one sandbox for several steps. Files stay in it from one call to the next, and it is deleted at the end. */
import { SandboxClient } from "cloud-sandbox";

const client = new SandboxClient();
const sandbox = await client.sandboxes.create({ template: "code-interpreter", timeoutSeconds: 300 });
try {
  await sandbox.files.write("/workspace/sales.csv", "month,amount\njan,100\nfeb,150\nmar,200\n");
  await sandbox.env.merge({ COLUMN: "amount" });

  const run = await sandbox.execute(`
import csv, os
with open("/workspace/sales.csv") as file:
    total = sum(int(row[os.environ["COLUMN"]]) for row in csv.DictReader(file))
with open("/workspace/total.txt", "w") as file:
    file.write(str(total))
`);
  if (run.exitCode !== 0) throw new Error(run.stderr);

  console.log(`Total: ${await sandbox.files.readText("/workspace/total.txt")}`);
  const { stdout } = await sandbox.commands.run("ls /workspace | sort | xargs");
  console.log(`Files: ${stdout.trim()}`);
} finally {
  await client.sandboxes.delete(sandbox.id);
}
