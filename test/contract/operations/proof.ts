import type { CreateSandboxOptions, Sandbox, SandboxClient } from "cloud-sandbox";
import type { FrameSocket } from "../../support/frame-socket.js";
import type { Backend } from "../backends/backend.js";

/** A test of one operation, with the typed low-level clients. */
export interface Proof {
  /** What the test shows, as the end of a sentence that begins with the operation. */
  readonly shows: string;
  readonly run: (bench: Bench) => Promise<void>;
}

export const proof = (shows: string, run: Proof["run"]): Proof => ({ shows, run });

/** The backend and the sandboxes that the tests use. */
export class Bench {
  constructor(
    readonly backend: Backend,
    /** A sandbox that all tests share. A test must undo its changes. */
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

  /** A sandbox for one test only, which may stop or delete it. */
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

  /** Sends a request to the shared sandbox's agent, without a client library. */
  readonly request = (method: string, path: string, init: RequestInit = {}): Promise<Response> => {
    const headers = { authorization: `Bearer ${this.token}`, ...init.headers };
    return this.backend.fetch(`${this.agentUrl}${path}`, { ...init, method, headers });
  };

  /** Opens a WebSocket to the shared sandbox's agent. Resolves when it is open. */
  async socket(path: string): Promise<FrameSocket> {
    return this.backend.openSocket(this.agentUrl + path, this.token);
  }

  private get agentUrl(): string {
    return this.sandbox.publicHost ?? "";
  }
}

/** Resolves with the body of an answer. Throws if it is not a success. */
export async function success<Data>(
  call: Promise<{ data?: Data; error?: unknown; response: { status: number } }>,
): Promise<NonNullable<Data>> {
  const { data, error, response } = await call;
  if (data === undefined || data === null) throw new Error(`${response.status} ${JSON.stringify(error)}`);
  return data;
}
