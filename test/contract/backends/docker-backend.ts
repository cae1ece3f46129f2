import { startDockerServer } from "../../support/docker/docker-server.js";
import type { Backend } from "./backend.js";
import { networkBackend } from "./network-backend.js";

/** The local control plane with the docker runtime as a backend, in a process of its own. */
export async function startDockerBackend(): Promise<Backend> {
  const server = await startDockerServer({ args: ["--pool", "1", "--webhook-allow-private"] });
  const backend = networkBackend({
    url: server.url,
    apiKey: server.apiKey,
    languages: ["python", "javascript", "bash"],
  });
  return {
    ...backend,
    async close() {
      await backend.close();
      await server.stop();
    },
  };
}
