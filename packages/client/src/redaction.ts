/** Keeps keys and tokens out of everything people read. */

const credentialHeader = /authorization|authenticate|cookie|token|secret|api-?key|signature/i;
/** JSON Web Tokens, and keys as HOPX shapes them. */
const credentialShape = /\beyJ[\w-]+\.[\w-]+\.[\w-]*|\b(?:hopx|sk)_live_[\w.-]+/g;
const hidden = "[redacted]";

/** `text` without the given secrets and without anything that looks like one. */
export function redact(text: string, secrets: readonly string[] = []): string {
  let safe = text;
  for (const secret of secrets) {
    if (secret.length >= minimumSecretLength) safe = safe.replaceAll(secret, hidden);
  }
  return safe.replace(credentialShape, hidden);
}

/** Response headers by lower-case name; the values of those that carry credentials are hidden. */
export function safeHeaders(
  headers: Iterable<[string, string]>,
  secrets: readonly string[],
): Record<string, string> {
  const safe: Record<string, string> = {};
  for (const [name, value] of headers) {
    safe[name.toLowerCase()] = credentialHeader.test(name) ? hidden : redact(value, secrets);
  }
  return safe;
}

/** Strings of a JSON value, redacted wherever they are. */
export function redactDeep(value: unknown, secrets: readonly string[], depth = 8): unknown {
  if (typeof value === "string") return redact(value, secrets);
  if (typeof value !== "object" || value === null) return value;
  if (depth === 0) return hidden;
  if (Array.isArray(value)) return value.map((item) => redactDeep(item, secrets, depth - 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, redactDeep(item, secrets, depth - 1)]),
  );
}

/** A shorter secret ("k" in a test) would blank out ordinary words and protect nothing. */
const minimumSecretLength = 6;
