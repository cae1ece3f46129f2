// Runs `smoke` with the built client and prints the results.
import { SandboxClient } from "cloud-sandbox";
import { smoke } from "./smoke.mjs";

const client = new SandboxClient();
console.log(JSON.stringify(await smoke(client)));
await client.close();
