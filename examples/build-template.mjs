/** Builds a template: what it is based on, files, packages to install, and a command that starts with each sandbox. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SandboxClient, Template } from "cloud-sandbox";

const context = await mkdtemp(join(tmpdir(), "example-"));
const server =
  "from http.server import *\nHTTPServer(('', 8000), SimpleHTTPRequestHandler).serve_forever()\n";
await writeFile(join(context, "server.py"), server);

const template = Template.from("code-interpreter")
  .workdir("/workspace")
  .copy("server.py", "/workspace/server.py")
  .run("echo 'Hello from the template.' > index.html")
  .startCommand("cd /workspace && python3 server.py", { port: 8000 });

const client = new SandboxClient();
try {
  const { name } = await client.templates.build(template, {
    name: "example-server",
    update: true,
    context,
    timeoutSeconds: 600,
    onLog: (line) => console.log(line),
  });
  const sandbox = await client.sandboxes.create({ template: name, timeoutSeconds: 120 });
  const page = await fetch(sandbox.ports.previewUrl(8000, { form: "path" }));
  console.log(await page.text());
  await sandbox.delete();
} finally {
  await client.templates.delete("example-server");
  await client.close();
  await rm(context, { recursive: true });
}
