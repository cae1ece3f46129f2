/** Says which connections failed when a server does not start: many programs do not say so, or repeat them in silence for minutes. */
import type { SandboxClient } from "cloud-sandbox";
import { Secrets } from "../config/secrets.js";
import { McpStartError } from "../errors.js";

/** Connections of which the error tells. */
const mostNamed = 2;
/** Milliseconds that the server's connections may take to be listed. */
const listingMs = 5000;

interface FailedStart {
  readonly client: SandboxClient;
  readonly sandboxId: string;
  /** Variables of the server, whose values are not shown. */
  readonly variables: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** The error of a start, with the connections of the sandbox that failed or wait for an answer. Other errors are returned as they are. */
export async function withFailedConnections(error: unknown, start: FailedStart): Promise<unknown> {
  if (!(error instanceof McpStartError)) return error;
  const secrets = new Secrets(start.variables);
  const told = (await failedConnections(start))
    .map(secrets.hide, secrets)
    .filter((sentence) => !error.summary.includes(sentence))
    .slice(0, mostNamed);
  if (told.length === 0) return error;
  const { cause, code, hint, stderr } = error;
  const summary = [error.summary, ...told].join(" ");
  return new McpStartError({ summary, code, hint, stderr, ...(cause !== undefined && { cause }) });
}

async function failedConnections({ client, sandboxId, signal }: FailedStart): Promise<string[]> {
  try {
    const { data } = await client.controlPlane.GET("/v1/sandboxes/{id}/egress", {
      params: { path: { id: sandboxId }, query: { limit: 20 } },
      signal: AbortSignal.any([signal, AbortSignal.timeout(listingMs)]),
    });
    // The newest first. A program may try a host again that answered later.
    const newest = new Map(
      (data?.data ?? []).reverse().map((entry) => [`${entry.host}:${entry.port}`, entry]),
    );
    return [...newest].flatMap(([destination, { decision, reason }]) => {
      if (decision === "pending") return [`It waits for an answer of ${destination}.`];
      return reason === undefined
        ? []
        : [reason.includes(destination) ? reason : `${destination}: ${reason}`];
    });
  } catch {
    // The backend keeps no list of connections, or is gone: there is nothing to add to the error.
    return [];
  }
}
