/** Saves what code displays to files. With matplotlib in the template, plots are displayed in the same way. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SandboxClient } from "cloud-sandbox";

const client = new SandboxClient();
const directory = await mkdtemp(join(tmpdir(), "displayed-"));
const sandbox = await client.sandboxes.create({ template: "code-interpreter", timeoutSeconds: 300 });
try {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="90" height="60"><circle cx="45" cy="30" r="20"/></svg>`;
  const code = `display({"image/svg+xml": ${JSON.stringify(svg)}}, raw=True)
display({"application/json": {"total": 42}}, raw=True)`;
  const { richOutputs } = await sandbox.execute(code);
  for (const output of richOutputs) {
    if (output.is("image/svg+xml")) await output.saveTo(join(directory, "circle.svg"));
    if (output.is("application/json")) console.log(output.data);
  }
  console.log(await readFile(join(directory, "circle.svg"), "utf8"));
} finally {
  await rm(directory, { recursive: true });
  await sandbox.delete();
  await client.close();
}
