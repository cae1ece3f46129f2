import { onTestFinished } from "vitest";
import { SandboxClient, type SandboxClientOptions } from "../../src/index.js";

export const apiKey = "test-key.of-nobody";

/**
 * The ways in which a client can send requests, with the options that choose them. Callers must see no difference.
 */
export const carriers: [string, SandboxClientOptions][] = [
  ["undici", {}],
  ["fetch", { fetch: (request) => globalThis.fetch(request) }],
];

/** A client that hardly waits between its tries. It is closed when the test ends. */
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

/** Resolves with the error that a promise rejects with. Throws if the promise resolves. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => {
      throw new Error(`expected a rejection, got ${JSON.stringify(value)}`);
    },
    (error: unknown) => error,
  );
}

/** An address where nothing listens: the kernel assigns no port below 1024, and fetch does not refuse port 10. */
export const unusedUrl = "http://127.0.0.1:10";
