import { ConfigurationError, SandboxClient } from "cloud-sandbox";

/** Where the command runs code, and what has to end with it. */
export interface Backend {
  readonly client: SandboxClient;
  close(): Promise<void>;
}

/** The cloud when there is a key for it, else this machine; `CLOUD_SANDBOX_BACKEND` decides otherwise. */
export async function openBackend(environment: NodeJS.ProcessEnv = process.env): Promise<Backend> {
  const hasKey = credentials.some((name) => (environment[name]?.trim() ?? "") !== "");
  const choice = environment.CLOUD_SANDBOX_BACKEND || (hasKey ? "cloud" : "local");
  if (choice === "cloud") {
    const client = new SandboxClient({ deleteOnSignal: false });
    return { client, close: () => client.close() };
  }
  if (choice !== "local") {
    throw new ConfigurationError({
      summary: `CLOUD_SANDBOX_BACKEND is "${choice}".`,
      hint: "Set it to cloud or to local.",
      code: "INVALID_BACKEND",
    });
  }
  const { startLocalControlPlane } = await import("cloud-sandbox-local");
  // One sandbox is all that is needed: nothing is gained by booting another to wait.
  const controlPlane = await startLocalControlPlane({ pool: 0 });
  // An empty bearer token keeps the one for the cloud, if there is one, out of this.
  const client = new SandboxClient({
    baseUrl: controlPlane.url,
    apiKey: controlPlane.apiKey,
    bearerToken: "",
    deleteOnSignal: false,
  });
  return {
    client,
    close: async () => {
      await client.close();
      await controlPlane.close();
    },
  };
}

/** Any of them means that there is an account. */
const credentials = [
  "CLOUD_SANDBOX_API_KEY",
  "HOPX_API_KEY",
  "CLOUD_SANDBOX_BEARER_TOKEN",
  "HOPX_BEARER_TOKEN",
];
