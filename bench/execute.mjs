import { createServer, request } from "node:http";
import { SandboxClient } from "cloud-sandbox";
import { startLocalControlPlane } from "cloud-sandbox-local";
import { run } from "./isolated.mjs";
import { compare } from "./measure.mjs";

/**
 * Measures an execution in an existing sandbox against the least that it needs: one HTTP round trip and a bare python3.
 */
export async function benchExecute() {
  const backend = await startLocalControlPlane({ pool: 0 });
  const client = new SandboxClient({ apiKey: backend.apiKey, baseUrl: backend.url });
  const server = createServer((_, response) => response.end("{}"));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const sandbox = await client.sandboxes.create({ template: "code-interpreter" });
    return [
      await compare({
        name: "execute in an existing sandbox, over a bare python3 and one HTTP round trip",
        limit: 1.3,
        rounds: 100,
        floor: async () => {
          await roundTrip(server.address().port);
          await run(["/usr/bin/python3", "-c", "print(1)"]);
        },
        subject: async () => {
          const { stdout } = await sandbox.execute("print(1)", { language: "python" });
          if (stdout !== "1\n") throw new Error(`Unexpected output: ${stdout}`);
        },
      }),
    ];
  } finally {
    await client.close();
    await backend.close();
    server.close();
    server.closeAllConnections();
  }
}

function roundTrip(port) {
  return new Promise((resolve, reject) => {
    const call = request({ host: "127.0.0.1", port, method: "POST", path: "/" }, (response) => {
      response.resume().on("end", resolve);
    });
    call.on("error", reject);
    call.end("{}");
  });
}
