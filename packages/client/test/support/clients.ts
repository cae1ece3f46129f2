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
    retry: options.retry ?? { baseDelaySeconds: 0.001, maxDelaySeconds: 0.002 },
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

/** Where nothing listens: a port that no server is given by chance, and that fetch does not refuse. */
export const unusedUrl = "http://127.0.0.1:10";
