import { existsSync } from "node:fs";
import { startLocalServer } from "../../support/local-server.js";
import type { Backend } from "./backend.js";
import { networkBackend } from "./network-backend.js";

/** The local control plane as a backend, in a process of its own. */
export async function startLocalBackend(): Promise<Backend> {
  const server = await startLocalServer({ args: ["--pool", "1", "--webhook-allow-private"] });
  const languages = ["python", "javascript", "bash", ...(existsSync("/usr/bin/go") ? ["go"] : [])];
  const backend = networkBackend({ url: server.url, apiKey: server.apiKey, languages });
  return {
    ...backend,
    async close() {
      await backend.close();
      await server.stop();
    },
  };
}
