/** Opens the backend: the cloud when there is an API key, else this machine. The client library decides, and starts the local one. */
import type { LocalBackendOptions, SandboxClient, StartedBackend } from "cloud-sandbox";
import { BackendError } from "../errors/errors.js";

export interface Backend {
  readonly client: SandboxClient;
  /** One line about the backend, for the people who run this server. */
  readonly description: string;
  /** Whether closing the backend ends its sandboxes. */
  readonly endsItsSandboxes: boolean;
  close(): Promise<void>;
}

/** A profile's settings for sandboxes on this machine. */
export interface LocalOptions extends Omit<LocalBackendOptions, "dataDir"> {
  /** The directory below which installed MCP servers are kept for the next start. Default: they are not kept. */
  readonly layersBelow?: string;
}

/**
 * Opens the backend that the environment asks for; with an `apiKey`, always the server at the base URL. Throws
 * {@link BackendError}, or the client's own errors.
 */
export async function openBackend(
  local: LocalOptions | undefined,
  log: (line: string) => void,
  apiKey?: string,
): Promise<Backend> {
  if (apiKey !== undefined) {
    const { SandboxClient } = await import("cloud-sandbox");
    return cloud(new SandboxClient({ backend: "cloud", apiKey, deleteOnSignal: false }));
  }
  const { layersBelow, ...others } = local ?? {};
  if (layersBelow === undefined) return open(others);
  const { openWithLayers } = await import("cloud-sandbox-mcp-runner/configuration");
  return openWithLayers(layersBelow, (dataDir) => {
    if (dataDir !== undefined) return open({ ...others, dataDir });
    log("other programs use the directories of installed MCP servers, so this one installs them again");
    return open(others);
  });
}

async function open(local: LocalBackendOptions): Promise<Backend> {
  const { ConfigurationError, SandboxClient } = await import("cloud-sandbox");
  try {
    let description = "local backend";
    const onReady = ({ internet, isolation, runtime }: StartedBackend): void => {
      description += ` (${runtime}); isolation: ${isolation}; internet: ${internet}`;
    };
    const client = new SandboxClient({ deleteOnSignal: false, local: { ...local, onReady } });
    if (client.backend === "cloud") return cloud(client);
    // Make a first call, because that starts the local control plane.
    await client.health();
    return {
      client,
      description,
      // With a data directory, the control plane keeps its sandboxes for the next start.
      endsItsSandboxes: local.dataDir === undefined,
      // Do not wait for deletions: the sandboxes end together with their control plane.
      close: () => client.close({ timeoutSeconds: 0 }),
    };
  } catch (error) {
    if (error instanceof ConfigurationError) throw new BackendError(error.message, { cause: error.cause });
    throw error;
  }
}

function cloud(client: SandboxClient): Backend {
  return {
    client,
    description: "cloud backend; the provider decides the isolation",
    endsItsSandboxes: false,
    // Closing the client also waits for sandboxes whose creation was cancelled, and deletes them.
    close: () => client.close(),
  };
}
