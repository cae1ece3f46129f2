import type { SandboxClient } from "cloud-sandbox";
import type { FrameSocket } from "../support/frame-socket.js";

/** Something that serves both contracts. The same suite runs against each. */
export interface Backend {
  readonly client: SandboxClient;
  readonly url: string;
  readonly apiKey: string;
  /** Languages that its `code-interpreter` runs. */
  readonly languages: readonly string[];
  /** Makes a request in no client's words. */
  fetch(url: string, init?: RequestInit): Promise<Response>;
  /** Opens a WebSocket to an agent, in no client's words. */
  openSocket(url: string, token: string): Promise<FrameSocket>;
  /** Another client, with another key. */
  clientWith(apiKey: string): SandboxClient;
  close(): Promise<void>;
}
