import { createServer } from "node:net";
import { onTestFinished } from "vitest";
import { SandboxClient, type SandboxClientOptions } from "../../src/index.js";

export const apiKey = "test-key.of-nobody";

/** Both roads a request may take; what callers see is the same. */
export const carriers: [string, SandboxClientOptions][] = [
  ["undici", {}],
  ["fetch", { fetch: (request) => globalThis.fetch(request) }],
];

/** A client that does not wait between its tries, closed when the test ends. */
export function testClient(baseUrl: string, options: SandboxClientOptions = {}): SandboxClient {
  const client = new SandboxClient({
    apiKey,
    baseUrl,
    ...options,
    retry: options.retry ?? { baseDelay: 0.001, maxDelay: 0.002 },
  });
  onTestFinished(() => client.close());
  return client;
}

/** What a promise was rejected with. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => {
      throw new Error(`expected a rejection, got ${JSON.stringify(value)}`);
    },
    (error: unknown) => error,
  );
}

/** Where nothing listens. */
export async function unusedUrl(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
}
