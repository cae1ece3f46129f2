/** Tests a function that uses a sandbox, without a network and without a real sandbox. */
import assert from "node:assert/strict";
import { SandboxClient } from "cloud-sandbox";
import { TestingService } from "cloud-sandbox/testing";

/** The function under test: counts the lines of a text with a command in the sandbox. */
async function countLines(client, text) {
  const sandbox = await client.sandboxes.create({ template: "base", timeoutSeconds: 60 });
  try {
    await sandbox.files.write("/workspace/text", text);
    const { exitCode, stderr, stdout } = await sandbox.commands.run("wc -l < text");
    if (exitCode !== 0) throw new Error(stderr);
    return Number(stdout);
  } finally {
    await sandbox.delete();
  }
}

const service = new TestingService({
  programs: {
    "wc -l < text": ({ files }) => `${files.readText("text").split("\n").length - 1}\n`,
  },
});
const client = new SandboxClient(service.clientOptions);
assert.equal(await countLines(client, "one\ntwo\n"), 2);

// The function must delete its sandbox even if the command fails.
const failing = new TestingService({ programs: { "wc -l < text": { stderr: "no memory", exitCode: 1 } } });
const other = new SandboxClient(failing.clientOptions);
await assert.rejects(countLines(other, ""), /no memory/);
for await (const { id } of other.sandboxes.list()) assert.fail(`${id} is still there`);

await client.close();
await other.close();
console.log("All is well.");
