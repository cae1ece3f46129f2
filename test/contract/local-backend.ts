import { existsSync } from "node:fs";
import { SandboxClient } from "cloud-sandbox";
import { startLocalServer } from "../support/local-server.js";
import type { Backend } from "./backend.js";

/** The control plane of this machine, in a process of its own. */
export async function startLocalBackend(): Promise<Backend> {
  const server = await startLocalServer({ args: ["--pool", "1", "--webhook-allow-private"] });
  const client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
  return {
    name: "local",
    client,
    url: server.url,
    apiKey: server.apiKey,
    languages: ["python", "javascript", "bash", ...(existsSync("/usr/bin/go") ? ["go"] : [])],
    close: async () => {
      await client.close();
      await server.stop();
    },
  };
}
