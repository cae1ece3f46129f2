import { invalidArgument } from "../errors/errors.js";
import type { ExecutionReport } from "./execution-report.js";
import { checkVerification, type VerifyWebhookOptions, verifyWebhook } from "./verify-webhook.js";
import { WebhookVerificationError } from "./webhook-error.js";

/** What becomes of a report. */
export interface WebhookHandlerOptions extends VerifyWebhookOptions {
  /** What `executeAsync` was given as `callbackSecret`. */
  secret: string;
  /** Called with what was verified. What it throws the handler throws: servers answer 500 then, and are called again. */
  onReport(report: ExecutionReport): void | Promise<void>;
}

/** Bytes: output is at most 2 MiB of it. */
const longestBody = 16 * 1024 * 1024;

/**
 * A receiver of webhooks for servers whose handlers take a `Request` and give a `Response`: Hono, Next.js, Bun, Deno,
 * workers. It answers 204 when `onReport` is through, 401 for what cannot be believed, 405 for what is no POST, 413 for a
 * body above 16 MiB.
 */
export function webhookHandler(options: WebhookHandlerOptions): (request: Request) => Promise<Response> {
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

/** Undefined when it is too long, which is found out before it is all read. */
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
