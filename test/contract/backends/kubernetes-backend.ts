import { startKubernetesServer } from "../../support/kubernetes/kubernetes-server.js";
import type { Backend } from "./backend.js";
import { networkBackend } from "./network-backend.js";

/** The local control plane with the kubernetes runtime as a backend, in a process outside of the cluster. */
export async function startKubernetesBackend(): Promise<Backend> {
  const server = await startKubernetesServer({ args: ["--pool", "1", "--webhook-allow-private"] });
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
