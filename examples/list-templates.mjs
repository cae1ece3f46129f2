/** Lists the templates from which sandboxes can be created. */
import { SandboxClient } from "cloud-sandbox";

const client = new SandboxClient();
for await (const { name, description } of client.templates.list()) console.log(`${name}: ${description}`);
