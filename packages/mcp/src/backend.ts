/** Where sandboxes run: the cloud when there is a key for it, else an embedded control plane on this machine. */
import type { SandboxClient } from "cloud-sandbox";
import { SandboxDirectory } from "./sandbox-directory.js";

export interface Backend {
  readonly client: SandboxClient;
  readonly sandboxes: SandboxDirectory;
  /** One line for the people who run this server. */
  readonly description: string;
  /** Leaves no sandbox behind that was created here. */
  close(): Promise<void>;
}

/** There is no backend to work with; the message says why and what to do. */
export class BackendError extends Error {
  override readonly name = "BackendError";
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Opens the backend that the environment asks for; throws {@link BackendError}, or the client's own errors. */
export async function openBackend(environment: Environment): Promise<Backend> {
  return chooseBackend(environment) === "cloud" ? openCloud() : openLocal();
}

function chooseBackend(environment: Environment): "cloud" | "local" {
  const choice = environment.CLOUD_SANDBOX_BACKEND?.trim() ?? "";
  const hasKey = credentials.some((name) => (environment[name]?.trim() ?? "") !== "");
  if (choice === "local") return "local";
  if (choice === "") return hasKey ? "cloud" : "local";
  if (choice !== "cloud") {
    throw new BackendError(
      "CLOUD_SANDBOX_BACKEND must be cloud or local; correct it in this server's configuration.",
    );
  }
  if (hasKey) return "cloud";
  throw new BackendError(
    "CLOUD_SANDBOX_BACKEND is cloud, but there is no API key. Set CLOUD_SANDBOX_API_KEY in this server's configuration, or CLOUD_SANDBOX_BACKEND=local to run sandboxes on this machine.",
  );
}

const credentials = [
  "CLOUD_SANDBOX_API_KEY",
  "HOPX_API_KEY",
  "CLOUD_SANDBOX_BEARER_TOKEN",
  "HOPX_BEARER_TOKEN",
];

async function openCloud(): Promise<Backend> {
  const { SandboxClient } = await import("cloud-sandbox");
  const client = new SandboxClient({ deleteOnSignal: false });
  const sandboxes = new SandboxDirectory(client);
  return {
    client,
    sandboxes,
    description: "cloud backend; the provider decides the isolation",
    close: async () => {
      await sandboxes.deleteCreated();
      // Waits for sandboxes whose creation was cancelled half-way.
      await client.close();
    },
  };
}

async function openLocal(): Promise<Backend> {
  const [{ SandboxClient }, { startLocalControlPlane }] = await Promise.all([
    import("cloud-sandbox"),
    importLocal(),
  ]);
  const controlPlane = await startLocalControlPlane().catch(asBackendError);
  const { url, apiKey, runtime, isolation } = controlPlane;
  // Without an explicit bearer token, one that is meant for the cloud would be taken from the environment.
  const client = new SandboxClient({ baseUrl: url, apiKey, bearerToken: "", deleteOnSignal: false });
  return {
    client,
    sandboxes: new SandboxDirectory(client),
    description: `local backend (${runtime}); isolation: ${isolation}`,
    close: () => controlPlane.close(),
  };
}

async function importLocal(): Promise<typeof import("cloud-sandbox-local")> {
  try {
    return await import("cloud-sandbox-local");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND")) throw error;
    throw new BackendError(
      `The local backend is not installed; it needs Linux and the package cloud-sandbox-local. ${useTheCloud}`,
    );
  }
}

/** The local control plane's errors are written for people, with the command that mends what is missing. */
function asBackendError(error: unknown): never {
  throw new BackendError(
    `${error instanceof Error ? error.message : "The local backend did not start."} ${useTheCloud}`,
  );
}

const useTheCloud = "To use the cloud, set CLOUD_SANDBOX_API_KEY in this server's configuration.";
