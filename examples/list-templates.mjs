/** The templates that sandboxes can be made from. */
import { SandboxClient } from "cloud-sandbox";

const client = new SandboxClient();
for await (const { name, description } of client.templates.list()) console.log(`${name}: ${description}`);
