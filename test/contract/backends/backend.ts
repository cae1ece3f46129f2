import type { SandboxClient } from "cloud-sandbox";
import type { FrameSocket } from "../../support/frame-socket.js";

/** A backend that serves both contracts. The same suite runs against each. */
export interface Backend {
  /** An empty directory of the backend's machine that sandboxes may have a copy of. Undefined if it gives them none. */
  readonly copied?: string;
  readonly client: SandboxClient;
  readonly url: string;
  readonly apiKey: string;
  /** Languages that the template `code-interpreter` of the backend runs. */
  readonly languages: readonly string[];
  /** Sends a request unchanged, without a client library. */
  fetch(url: string, init?: RequestInit): Promise<Response>;
  /** Opens a WebSocket to an agent, without a client library. */
  openSocket(url: string, token: string): Promise<FrameSocket>;
  /** Makes a client with another API key. */
  clientWith(apiKey: string): SandboxClient;
  close(): Promise<void>;
}
