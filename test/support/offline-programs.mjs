// Run on a host without a network. Prints, as one line of JSON, the output of programs in a sandbox and the egress log.
import { SandboxClient } from "cloud-sandbox";
import { startLocalControlPlane } from "cloud-sandbox-local";

const programs = JSON.parse(process.argv[2]);
const local = await startLocalControlPlane({ pool: 0 });
const client = new SandboxClient({ apiKey: local.apiKey, baseUrl: local.url });
const sandbox = await client.sandboxes.create();
const said = {};
for (const [name, command] of Object.entries(programs)) {
  const { stdout, stderr } = await sandbox.execute(command, { language: "bash", timeoutSeconds: 120 });
  said[name] = stdout + stderr;
}
const params = { path: { id: sandbox.id }, query: {} };
const { data } = await client.controlPlane.GET("/v1/sandboxes/{id}/egress", { params });
await client.close();
await local.close();
console.log(JSON.stringify({ said, log: data.data.map(({ decision, reason }) => ({ decision, reason })) }));
