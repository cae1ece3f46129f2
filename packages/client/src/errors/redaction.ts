/** Removes keys and tokens from everything that people may read. */

const credentialHeader = /authorization|authenticate|cookie|token|secret|api-?key|signature/i;
/**
 * A JSON Web Token. The second and third part are optional in the pattern: if they were required, a long text without
 * them would be rescanned from every position.
 */
const tokenShape = /\beyJ[\w-]+(\.[\w-]+\.[\w-]*)?/g;
/** API keys in the format of HOPX. */
const keyShape = /\b(?:hopx|sk)_live_[\w.-]+/g;
const hidden = "[redacted]";

/** `text` without the given secrets, and without anything that looks like a key or token. */
export function redact(text: string, secrets: readonly string[] = []): string {
  let safe = text;
  for (const secret of secrets) {
    if (secret.length < minimumSecretLength) continue;
    // Also remove the JSON-escaped form: a server that quotes a request quotes its JSON.
    safe = safe.replaceAll(secret, hidden).replaceAll(JSON.stringify(secret).slice(1, -1), hidden);
  }
  return safe
    .replace(tokenShape, (found, rest: string | undefined) => (rest === undefined ? found : hidden))
    .replace(keyShape, hidden);
}

/** Response headers by lower-case name. Values of headers that carry credentials are hidden. */
export function safeHeaders(
  headers: Readonly<Record<string, string>>,
  secrets: readonly string[],
): Record<string, string> {
  const safe: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    safe[name] = credentialHeader.test(name) ? hidden : redact(value, secrets);
  }
  return safe;
}

/** Redacts all strings in a JSON value, property names included. */
export function redactDeep(value: unknown, secrets: readonly string[], depth = 8): unknown {
  if (typeof value === "string") return redact(value, secrets);
  if (typeof value !== "object" || value === null) return value;
  if (depth === 0) return hidden;
  if (Array.isArray(value)) return value.map((item) => redactDeep(item, secrets, depth - 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [redact(key, secrets), redactDeep(item, secrets, depth - 1)]),
  );
}

/** The secret values in a request body, such as environment variables: some servers quote them in their errors. */
export function secretsOf(request: Readonly<Record<string, unknown>>): string[] {
  const {
    callback_headers,
    callback_signature_secret,
    env,
    env_vars,
    password,
    registry_credentials,
    secrets,
    steps,
    value,
  } = request;
  const variables = Array.isArray(steps) ? steps.flatMap(valueSet) : [];
  const values = [env, env_vars, callback_headers, registry_credentials].flatMap((map) =>
    Object.values(map ?? {}),
  );
  const credentials = Object.values(secrets ?? {}).map((secret) => Object(secret).value);
  return [...values, ...variables, ...credentials, value, callback_signature_secret, password].filter(
    (value) => typeof value === "string",
  );
}

/** The values that an `ENV` step of a template sets. */
function valueSet(step: unknown): unknown[] {
  const { args, type } = Object(step);
  return type === "ENV" && Array.isArray(args) ? args.slice(1) : [];
}

/**
 * The fewest characters of a secret to redact. Redacting a shorter one ("k" in a test) would damage ordinary words and
 * protect nothing.
 */
const minimumSecretLength = 6;
