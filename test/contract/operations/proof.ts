import type { CreateSandboxOptions, Sandbox, SandboxClient } from "cloud-sandbox";
import type { FrameSocket } from "../../support/frame-socket.js";
import type { Backend } from "../backend.js";

/** One test of one operation, over the typed low-level clients. */
export interface Proof {
  /** What it shows, as a clause about the operation. */
  readonly shows: string;
  readonly run: (bench: Bench) => Promise<void>;
}

export const proof = (shows: string, run: Proof["run"]): Proof => ({ shows, run });

/** What the proofs work with. */
export class Bench {
  constructor(
    readonly backend: Backend,
    /** Shared by all proofs: leave it as it was. */
    readonly sandbox: Sandbox,
    private readonly token: string,
  ) {}

  get client(): SandboxClient {
    return this.backend.client;
  }

  get controlPlane() {
    return this.backend.client.controlPlane;
  }

  get agent() {
    return this.sandbox.agent;
  }

  /** A sandbox of its own, for what ends it or stops it. */
  async withSandbox(
    use: (sandbox: Sandbox) => Promise<void>,
    options: CreateSandboxOptions = {},
  ): Promise<void> {
    const sandbox = await this.client.sandboxes.create({
      template: "base",
      timeoutSeconds: 120,
      ...options,
    });
    try {
      await use(sandbox);
    } finally {
      await sandbox.delete();
    }
  }

  /** Asks the shared sandbox's agent for something in no client's words. */
  readonly request = (method: string, path: string, init: RequestInit = {}): Promise<Response> => {
    const headers = { authorization: `Bearer ${this.token}`, ...init.headers };
    return this.backend.fetch(`${this.agentUrl}${path}`, { ...init, method, headers });
  };

  /** A WebSocket to the shared sandbox's agent, open. */
  async socket(path: string): Promise<FrameSocket> {
    return this.backend.openSocket(this.agentUrl + path, this.token);
  }

  private get agentUrl(): string {
    return this.sandbox.publicHost ?? "";
  }
}

/** The body of an answer that must be a success. */
export async function success<Data>(
  call: Promise<{ data?: Data; error?: unknown; response: { status: number } }>,
): Promise<NonNullable<Data>> {
  const { data, error, response } = await call;
  if (data === undefined || data === null) throw new Error(`${response.status} ${JSON.stringify(error)}`);
  return data;
}
