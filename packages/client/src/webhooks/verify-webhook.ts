import { checkKnown, type OptionNames } from "../config/options.js";
import { invalidArgument } from "../errors/errors.js";
import type { SandboxEvent } from "../events/events.js";
import { date } from "../transport/answer-fields.js";
import { type ExecutionReport, executionReport } from "./execution-report.js";
import { WebhookVerificationError } from "./webhook-error.js";

/** Headers of a `fetch`-style request, or `request.headers` of Node.js. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/** Options of `verifyWebhook`. */
export interface VerifyWebhookOptions {
  /** The most seconds by which the request's timestamp may differ from this machine's clock. Default 300. */
  toleranceSeconds?: number | undefined;
}

export const verifyOptionNames: OptionNames<VerifyWebhookOptions> = { toleranceSeconds: true };

/**
 * Verifies the signature and timestamp of a webhook request and returns its report. Throws a `WebhookVerificationError`
 * if the request cannot be verified: do not trust any of it then. Signatures are compared in constant time, by Web
 * Crypto.
 *
 * `rawBody` must be the body exactly as received: parsing and re-serializing JSON changes the signature. Two kinds of
 * signatures are accepted, because servers differ: over the body, or over the timestamp and the body. The first does not
 * protect the timestamp, so an attacker can resend a copied request with a new one: process each `deliveryId` (or
 * `executionId`) only once.
 */
export async function verifyWebhook(
  rawBody: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string,
  options: VerifyWebhookOptions = {},
): Promise<ExecutionReport> {
  checkKnown("verifyWebhook", options, verifyOptionNames);
  const { body, ...sent } = await verified(rawBody, headers, secret, options);
  return executionReport(body, sent);
}

/**
 * Verifies a request of a webhook that `webhooks.subscribe` made, as `verifyWebhook` does, and returns its event. The same event may
 * come twice: process each `id` only once.
 */
export async function verifyEventWebhook(
  rawBody: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string,
  options: VerifyWebhookOptions = {},
): Promise<SandboxEvent> {
  checkKnown("verifyEventWebhook", options, verifyOptionNames);
  const { body } = await verified(rawBody, headers, secret, options);
  const { eventIn } = await import("../events/events.js");
  return eventIn(new TextDecoder().decode(body));
}

interface Verified {
  readonly body: Uint8Array;
  readonly deliveryId: string | undefined;
  readonly sentAt: Date | undefined;
}

async function verified(
  rawBody: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string,
  options: VerifyWebhookOptions,
): Promise<Verified> {
  const { toleranceSeconds = 300 } = options;
  checkVerification(secret, options);
  if (typeof rawBody !== "string" && !(rawBody instanceof Uint8Array))
    throw invalidArgument(
      "rawBody must be the body as it arrived, as text or bytes.",
      "Do not parse it before.",
    );
  const body = typeof rawBody === "string" ? encoder.encode(rawBody) : rawBody;
  const signature = signatureOf(headerOf(headers, webhookHeaders.signature));
  const timestamp = headerOf(headers, webhookHeaders.timestamp);
  if (!(await isSigned(body, timestamp, signature, secret))) throw wrongSignature();
  const sentAt = timeOf(timestamp, toleranceSeconds);
  return { body, deliveryId: headerOf(headers, webhookHeaders.delivery), sentAt };
}

/** Throws for a secret or tolerance that would make the check accept everything, or nothing. */
export function checkVerification(secret: unknown, { toleranceSeconds = 300 }: VerifyWebhookOptions): void {
  if (typeof secret !== "string" || secret === "") throw invalidArgument("secret must be text, not empty.");
  if (!(toleranceSeconds > 0)) throw invalidArgument("toleranceSeconds must be a number above 0.");
}

/** The header names, as the protocol defines them. */
const webhookHeaders = {
  signature: "X-HOPX-Signature",
  timestamp: "X-HOPX-Timestamp",
  delivery: "X-HOPX-Delivery",
};
const encoder = new TextEncoder();

async function isSigned(
  body: Uint8Array,
  timestamp: string | undefined,
  signature: Uint8Array<ArrayBuffer>,
  secret: string,
): Promise<boolean> {
  const { subtle } = globalThis.crypto;
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await subtle.importKey("raw", encoder.encode(secret), algorithm, false, ["verify"]);
  const forms = [new Uint8Array(body)];
  if (timestamp !== undefined) forms.push(new Uint8Array([...encoder.encode(timestamp), ...body]));
  // Always check both forms, so that the time taken does not depend on which one matches.
  const found = await Promise.all(forms.map((form) => subtle.verify("HMAC", key, signature, form)));
  return found.includes(true);
}

function signatureOf(header: string | undefined): Uint8Array<ArrayBuffer> {
  if (header === undefined) {
    throw new WebhookVerificationError({
      summary: `The webhook has no ${webhookHeaders.signature} header.`,
      hint: "Start the code with a callbackSecret, so that its reports are signed.",
      code: "WEBHOOK_SIGNATURE_MISSING",
    });
  }
  const hex = /^\s*(?:sha256=)?([0-9a-f]{64})\s*$/i.exec(header)?.[1];
  if (hex === undefined) throw wrongSignature();
  return Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
}

/** Parses a timestamp in Unix seconds. */
function timeOf(timestamp: string | undefined, toleranceSeconds: number): Date | undefined {
  if (timestamp === undefined || !/^\d{1,12}$/.test(timestamp)) {
    throw new WebhookVerificationError({
      summary: `The webhook's ${webhookHeaders.timestamp} header is not a valid time.`,
      hint: "Reject the request: it was possibly not sent by the server.",
      code: "WEBHOOK_TIMESTAMP_INVALID",
    });
  }
  const milliseconds = Number(timestamp) * 1000;
  const away = Math.abs(Date.now() - milliseconds) / 1000;
  if (away <= toleranceSeconds) return date(new Date(milliseconds).toISOString());
  throw new WebhookVerificationError({
    summary: `The webhook was sent ${Math.round(away)} s away from this machine's clock, and ${toleranceSeconds} s are allowed.`,
    hint: "Somebody may have sent an old webhook again. If not, set this machine's clock, or allow more with toleranceSeconds.",
    code: "WEBHOOK_TIMESTAMP_REFUSED",
  });
}

function headerOf(headers: WebhookHeaders, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const wanted = name.toLowerCase();
  const value = Object.entries(headers).find(([key]) => key.toLowerCase() === wanted)?.[1];
  return typeof value === "string" ? value : value?.[0];
}

function wrongSignature(): WebhookVerificationError {
  return new WebhookVerificationError({
    summary: "The webhook's signature does not match its body and this secret.",
    hint: "Check the secret, and give the body exactly as it arrived.",
    code: "WEBHOOK_SIGNATURE_INVALID",
  });
}
