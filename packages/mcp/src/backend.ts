/** Where sandboxes run: the cloud when there is a key for it, else an embedded control plane on this machine. */
import type { SandboxClient } from "cloud-sandbox";
import type { LocalControlPlaneOptions } from "cloud-sandbox-local";

export interface Backend {
  readonly client: SandboxClient;
  /** One line for the people who run this server. */
  readonly description: string;
  /** Whether closing it ends its sandboxes. */
  readonly endsItsSandboxes: boolean;
  close(): Promise<void>;
}

/** There is no backend to work with; the message says why and what to do. */
export class BackendError extends Error {
  override readonly name = "BackendError";
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** What a profile says of sandboxes that are made on this machine. */
export type LocalOptions = Pick<LocalControlPlaneOptions, "limits" | "pool">;

/** Opens the backend that the environment asks for; throws {@link BackendError}, or the client's own errors. */
export async function openBackend(environment: Environment, local?: LocalOptions): Promise<Backend> {
  return chooseBackend(environment) === "cloud" ? openCloud() : openLocal(local);
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
  return {
    client,
    description: "cloud backend; the provider decides the isolation",
    endsItsSandboxes: false,
    // Waits for sandboxes whose creation was cancelled half-way.
    close: () => client.close(),
  };
}

async function openLocal(options: LocalOptions = {}): Promise<Backend> {
  const [{ SandboxClient }, { startLocalControlPlane }] = await Promise.all([
    import("cloud-sandbox"),
    importLocal(),
  ]);
  const controlPlane = await startLocalControlPlane(options).catch(asBackendError);
  const { url, apiKey, runtime, isolation, internet } = controlPlane;
  // Without an explicit bearer token, one that is meant for the cloud would be taken from the environment.
  const client = new SandboxClient({ baseUrl: url, apiKey, bearerToken: "", deleteOnSignal: false });
  return {
    client,
    description: `local backend (${runtime}); isolation: ${isolation}; internet: ${internet}`,
    endsItsSandboxes: true,
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
