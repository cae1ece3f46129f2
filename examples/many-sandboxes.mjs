/** Runs many programs, each in a sandbox of its own, a few at a time. One that fails does not stop the others. */
import { SandboxClient } from "cloud-sandbox";

const client = new SandboxClient();
const programs = Array.from({ length: 12 }, (_, index) => `print(sum(range(${index}000)))`);
programs.push("raise SystemExit('This one fails')");

const atOnce = 4;
const results = [];
const waiting = programs.entries();
const worker = async () => {
  for (const [index, code] of waiting)
    results[index] = await client.executeIsolated(code, { timeoutSeconds: 20 });
};
await Promise.all(Array.from({ length: atOnce }, worker));

for (const { exitCode, stderr, stdout } of results) {
  console.log(exitCode === 0 ? stdout.trim() : `failed: ${stderr.trim()}`);
}
await client.close();
