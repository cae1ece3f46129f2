// Uses a sandbox as a small program does, on any runtime. Resolves with the results.
export async function smoke(client) {
  const sandbox = await client.sandboxes.create({ env: { GREETING: "hello" } });
  try {
    const run = await sandbox.execute("import os; print(os.environ['GREETING'])");
    const bytes = new Uint8Array(300_000).fill(7);
    await sandbox.files.write("/workspace/bytes", bytes);
    const read = await sandbox.files.readBytes("/workspace/bytes");
    const { entries } = await sandbox.files.list("/workspace");
    const job = await sandbox.executeBackground("print('done')");
    let output = "";
    for await (const event of job.follow()) output += event.text;
    return {
      execute: run.stdout,
      bytes: read.length === bytes.length && read.every((byte) => byte === 7),
      entries: entries.map(({ name }) => name),
      output,
      streamed: await streamed(sandbox),
      missing: await sandbox.files.readText("/workspace/none").catch((error) => error.code),
      metrics: await firstOf(sandbox.metrics.stream()),
    };
  } finally {
    await sandbox.delete();
  }
}

/** The output of a streamed execution, or the code of the error on runtimes whose WebSocket sends no headers. */
async function streamed(sandbox) {
  let text = "";
  try {
    for await (const event of sandbox.executeStream("print('piece by piece')"))
      if (event.type === "stdout") text += event.text;
    return text;
  } catch (error) {
    return error.code;
  }
}

async function firstOf(stream) {
  for await (const { uptimeSeconds } of stream) return typeof uptimeSeconds;
}
