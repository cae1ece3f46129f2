/** Where sandboxes run: the cloud when there is a key for it, else this machine. The client decides, and starts what is needed. */
import type { LocalBackendOptions, SandboxClient, StartedBackend } from "cloud-sandbox";
import { BackendError } from "../errors/backend-error.js";

export interface Backend {
  readonly client: SandboxClient;
  /** One line for the people who run this server. */
  readonly description: string;
  /** Whether closing it ends its sandboxes. */
  readonly endsItsSandboxes: boolean;
  close(): Promise<void>;
}

/** What a profile says of sandboxes that are made on this machine. */
export type LocalOptions = LocalBackendOptions;

/** Opens the backend that the environment asks for; throws {@link BackendError}, or the client's own errors. */
export async function openBackend(local: LocalOptions | undefined): Promise<Backend> {
  const { ConfigurationError, SandboxClient } = await import("cloud-sandbox");
  try {
    let description = "local backend";
    const onReady = ({ internet, isolation, runtime }: StartedBackend): void => {
      description += ` (${runtime}); isolation: ${isolation}; internet: ${internet}`;
    };
    const client = new SandboxClient({ deleteOnSignal: false, local: { ...local, onReady } });
    if (client.backend === "cloud") return cloud(client);
    // Starts it.
    await client.health();
    return {
      client,
      description,
      endsItsSandboxes: true,
      // Its sandboxes end with it, and what runs in them.
      close: () => client.close({ timeoutSeconds: 0 }),
    };
  } catch (error) {
    if (error instanceof ConfigurationError) throw new BackendError(error.message);
    throw error;
  }
}

function cloud(client: SandboxClient): Backend {
  return {
    client,
    description: "cloud backend; the provider decides the isolation",
    endsItsSandboxes: false,
    // Waits for sandboxes whose creation was cancelled half-way.
    close: () => client.close(),
  };
}
