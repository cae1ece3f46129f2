/** Reads the body of an error response, in every format that HOPX servers and proxies use. */
import { redact, redactDeep } from "./redaction.js";

export interface ErrorEnvelope {
  /** What happened, without the hint. */
  message: string | undefined;
  /** What to do next, in the server's words. */
  hint: string | undefined;
  code: string | undefined;
  requestId: string | undefined;
  /** Seconds to wait before a retry. */
  retryAfter: number | undefined;
  details: Record<string, unknown> | undefined;
}

/**
 * Accepts `{error: "text", message, hint, code, request_id}`, `{error: {message, code, request_id, details}}`, `{message,
 * code}`, `{detail}` and `{title}` of other frameworks, and text or HTML of a proxy. Removes secrets.
 */
export function readErrorEnvelope(body: unknown, secrets: readonly string[]): ErrorEnvelope {
  const text = (value: unknown): string | undefined => oneLine(value, secrets);
  if (!isObject(body)) return { ...empty, message: text(plainText(body, secrets)) };
  const nested = isObject(body.error) ? body.error : {};
  const details = object(body.details) ?? object(nested.details);
  const message =
    text(body.message) ?? text(nested.message) ?? text(body.error) ?? text(body.detail) ?? text(body.title);
  const hint = text(body.hint) ?? text(nested.hint);
  return {
    // Cut off the hint: this project's servers append it to the message, for clients that do not know `hint`.
    message:
      hint !== undefined && message?.endsWith(` ${hint}`) ? message.slice(0, -hint.length - 1) : message,
    hint,
    code: text(body.code) ?? text(nested.code),
    requestId: text(body.request_id) ?? text(nested.request_id),
    retryAfter:
      seconds(body.retry_after) ?? seconds(nested.retry_after) ?? seconds(details?.retry_after_seconds),
    details: details && object(redactDeep(details, secrets)),
  };
}

const empty: ErrorEnvelope = {
  message: undefined,
  hint: undefined,
  code: undefined,
  requestId: undefined,
  retryAfter: undefined,
  details: undefined,
};
const longestText = 500;

/** The text of a page: its title, or its words without HTML tags. */
function plainText(body: unknown, secrets: readonly string[]): string | undefined {
  if (typeof body !== "string") return undefined;
  const start = redact(body, secrets).slice(0, 20_000);
  const title = /<title[^<>]*>([^<]*)<\/title>/i.exec(start)?.[1];
  return title ?? start.replace(/<(script|style)\b[\s\S]*?<\/\1>/gi, " ").replace(/<[^<>]*>/g, " ");
}

function oneLine(value: unknown, secrets: readonly string[]): string | undefined {
  if (typeof value !== "string") return undefined;
  const line = Array.from(redact(value, secrets), (char) => (isControl(char) ? " " : char))
    .join("")
    .replace(/\s+/g, " ")
    .trim();
  if (line === "") return undefined;
  return line.length > longestText ? `${line.slice(0, longestText)}…` : line;
}

function isControl(char: string): boolean {
  return char < " " || (char >= "\u007f" && char < "\u00a0");
}

function seconds(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}

function object(value: unknown): Record<string, unknown> | undefined {
  return isObject(value) ? value : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
