import type { SandboxClient } from "cloud-sandbox";

/** Something that serves both contracts. The same suite runs against each. */
export interface Backend {
  readonly name: string;
  readonly client: SandboxClient;
  readonly url: string;
  readonly apiKey: string;
  /** Languages that its `code-interpreter` runs. */
  readonly languages: readonly string[];
  close(): Promise<void>;
}
