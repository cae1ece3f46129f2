import { startDockerServer } from "../../support/docker/docker-server.js";
import type { Backend } from "./backend.js";
import { networkBackend } from "./network-backend.js";

/** {@link startDockerBackend} with gVisor. */
export const startGvisorBackend = (): Promise<Backend> => startDockerBackend(["--docker-runtime", "runsc"]);

/** The local control plane with the docker runtime as a backend, in a process of its own. */
export async function startDockerBackend(options: readonly string[] = []): Promise<Backend> {
  const server = await startDockerServer({ args: ["--pool", "1", "--webhook-allow-private", ...options] });
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
