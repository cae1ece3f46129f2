import { checkKnown } from "../config/options.js";
import { invalidArgument } from "../errors/errors.js";
import type { ExecutionReport } from "./execution-report.js";
import {
  checkVerification,
  type VerifyWebhookOptions,
  verifyOptionNames,
  verifyWebhook,
} from "./verify-webhook.js";
import { WebhookVerificationError } from "./webhook-error.js";

/** Options of `webhookHandler`. */
export interface WebhookHandlerOptions extends VerifyWebhookOptions {
  /** The secret that `executeAsync` was given as `callbackSecret`. */
  secret: string;
  /**
   * Called with each verified report. If it throws, the handler throws too: the server then answers 500 and gets the
   * report again.
   */
  onReport(report: ExecutionReport): void | Promise<void>;
}

/** The largest accepted body in bytes; output makes up at most 2 MiB of it. */
const longestBody = 16 * 1024 * 1024;

/**
 * Creates a webhook receiver for servers whose handlers take a `Request` and return a `Response`: Hono, Next.js, Bun,
 * Deno, workers. Answers 204 once `onReport` has finished, 401 for a request that cannot be verified, 405 if the method
 * is not POST, 413 for a body above 16 MiB.
 */
export function webhookHandler(options: WebhookHandlerOptions): (request: Request) => Promise<Response> {
  checkKnown("webhookHandler", options, { ...verifyOptionNames, secret: true, onReport: true });
  const { onReport, secret, ...verification } = options;
  checkVerification(secret, verification);
  if (typeof onReport !== "function") throw invalidArgument("onReport must be a function.");
  return async (request) => {
    if (request.method !== "POST") return answer(405, "Webhooks are sent by POST.", { allow: "POST" });
    const body = await bodyOf(request);
    if (body === undefined) return answer(413, "The body is longer than any report.");
    try {
      const report = await verifyWebhook(body, request.headers, secret, verification);
      await onReport(report);
      return new Response(null, { status: 204 });
    } catch (error) {
      if (error instanceof WebhookVerificationError) return answer(401, error.summary);
      throw error;
    }
  };
}

/** The request's body; undefined if it is too long. Stops reading at the limit. */
async function bodyOf(request: Request): Promise<Uint8Array | undefined> {
  const reader = request.body?.getReader();
  const parts: Uint8Array[] = [];
  let length = 0;
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    parts.push(part.value);
    length += part.value.length;
    if (length <= longestBody) continue;
    await reader?.cancel();
    return undefined;
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

function answer(status: number, text: string, headers: Record<string, string> = {}): Response {
  return new Response(`${text}\n`, { status, headers: { "content-type": "text/plain", ...headers } });
}
