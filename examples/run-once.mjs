/** Runs one program in a sandbox of its own. A single call creates, uses and deletes the sandbox. */
import { SandboxClient } from "cloud-sandbox";

const client = new SandboxClient();
const { stdout, exitCode } = await client.executeIsolated("print(sum(range(101)))", { timeoutSeconds: 10 });
console.log(`The program printed ${stdout.trim()} and ended with ${exitCode}.`);
