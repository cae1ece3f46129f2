import { placeholderPrefix } from "./checked-secrets.js";
import { isAmbiguousPath } from "./path-patterns.js";
import type { Secret } from "./secret.js";

/** A header's name and value. */
export type Header = [name: string, value: string];

export interface RequestHead {
  readonly method: string;
  /** The path with its query. */
  readonly target: string;
  readonly headers: readonly Header[];
}

export interface ReplacedHead {
  readonly headers: readonly Header[];
  /** The names of the secrets that were put in. */
  readonly secrets: readonly string[];
  /**
   * What the answer must not repeat: the values, and the credentials for Basic that they are in. Of all secrets of the host, because an
   * answer may tell of an earlier request.
   */
  readonly sent: readonly string[];
}

/** A request that is not sent on. The message is its answer, and never has a value. */
export class RequestRefusal extends Error {
  override readonly name = "RequestRefusal";

  constructor(
    readonly status: 400 | 403 | 421 | 502,
    message: string,
  ) {
    super(message);
  }
}

/** The headers in which a placeholder is replaced. */
const replacedIn: ReadonlySet<string> = new Set(["authorization", "x-api-key"]);

/**
 * The head of a request to a host that has `secrets`, with values in place of their placeholders. `others` are the further secrets
 * of the sandbox. Throws a RequestRefusal for a placeholder that is not to be replaced: silence would look like a wrong credential.
 */
export function replacedHead(
  { method, target, headers }: RequestHead,
  secrets: readonly Secret[],
  others: readonly Secret[],
): ReplacedHead {
  const [path = ""] = target.split("?");
  if (isAmbiguousPath(path) && path !== "*" && secrets.some(({ paths }) => paths))
    throw new RequestRefusal(
      403,
      "The path could mean another one to the server, and a secret of this host has a rule about paths.",
    );
  const known = [...secrets, ...others];
  if (hasPlaceholder(target, known))
    throw new RequestRefusal(
      403,
      "A secret is never put into the path or the query of a request, because those end in logs. Send it in a header.",
    );
  const used = new Set<Secret>();
  const sent: string[] = [];
  const take = (secret: Secret): string => {
    if (!secrets.includes(secret))
      throw new RequestRefusal(403, `The secret ${secret.name} is not for this host.`);
    if (!secret.allows(method, path))
      throw new RequestRefusal(403, `The secret ${secret.name} is not for this method and path.`);
    const { value } = secret;
    if (value === undefined) throw lost(secret);
    used.add(secret);
    return value;
  };
  const set = new Map<string, Header>();
  const setByRules = new Set<string>();
  for (const secret of secrets) {
    for (const [name, text] of secret.setHeaders) {
      setByRules.add(name);
      if (!secret.allows(method, path)) continue;
      const value = take(secret);
      const isBasic = name === "authorization" && secret.basic !== undefined;
      // As a function, because in a text `$&` and its like mean something.
      const whole = isBasic
        ? basic(`${secret.basic}:${value}`, sent)
        : text.replaceAll("{value}", () => value);
      set.set(name, [name, whole]);
    }
  }
  const kept = headers.flatMap(([name, value]): Header[] => {
    const lower = name.toLowerCase();
    // Where a secret sets the header, the program's own would be another credential.
    if (setByRules.has(lower)) return [];
    if (lower === "authorization") return [[name, replacedAuthorization(value, known, take, sent)]];
    if (!hasPlaceholder(value, known)) return [[name, value]];
    const secret = known.find(({ placeholder }) => placeholder === value.trim());
    if (replacedIn.has(lower) && secret) return [[name, take(secret)]];
    if (replacedIn.has(lower)) throw unknown();
    throw new RequestRefusal(
      403,
      `A secret is put into the headers authorization and x-api-key alone, and not into ${lower}. Give the secret "headers" to set another one.`,
    );
  });
  for (const { value, basic: user } of secrets) {
    if (value === undefined) continue;
    sent.push(value);
    if (user !== undefined) basic(`${user}:${value}`, sent);
  }
  return {
    headers: [...kept, ...set.values()],
    secrets: [...used].map(({ name }) => name),
    // One value may be a part of another.
    sent: sent.sort((one, other) => other.length - one.length),
  };
}

/** Whether a text has a placeholder of these secrets, or one that looks like any sandbox's. */
export function hasPlaceholder(text: string, secrets: readonly Secret[]): boolean {
  return text.includes(placeholderPrefix) || secrets.some(({ placeholder }) => text.includes(placeholder));
}

/** The value of `authorization`: a placeholder is replaced alone, after a scheme, and as user or password of Basic. */
function replacedAuthorization(
  text: string,
  known: readonly Secret[],
  take: (secret: Secret) => string,
  sent: string[],
): string {
  const [, scheme = "", rest = ""] = /^\s*(?:([A-Za-z][\w-]*)\s+)?(\S.*?)?\s*$/.exec(text) ?? [];
  const find = (part: string): Secret | undefined => known.find(({ placeholder }) => placeholder === part);
  if (scheme.toLowerCase() === "basic") {
    const decoded = Buffer.from(rest, "base64").toString("utf8");
    if (!hasPlaceholder(decoded, known)) {
      if (hasPlaceholder(text, known)) throw misplaced();
      return text;
    }
    const [user = "", ...others] = decoded.split(":");
    const password = others.join(":");
    const replaced = [user, password].map((part) => {
      const secret = find(part);
      if (secret) return take(secret);
      if (hasPlaceholder(part, known)) throw unknown();
      return part;
    });
    return basic(replaced.join(":"), sent);
  }
  if (!hasPlaceholder(text, known)) return text;
  const secret = find(rest);
  if (secret) return scheme === "" ? take(secret) : `${scheme} ${take(secret)}`;
  throw /^\S+$/.test(rest) && rest.startsWith(placeholderPrefix) ? unknown() : misplaced();
}

function basic(credentials: string, sent: string[]): string {
  const encoded = Buffer.from(credentials).toString("base64");
  sent.push(encoded);
  return `Basic ${encoded}`;
}

const unknown = (): RequestRefusal =>
  new RequestRefusal(
    403,
    "The placeholder is not that of a secret of this sandbox: the secret was deleted, or is another sandbox's.",
  );

const misplaced = (): RequestRefusal =>
  new RequestRefusal(
    403,
    "In authorization a placeholder is replaced alone, after one word such as Bearer, and as user or password of Basic. Requests cannot be signed with a placeholder.",
  );

const lost = ({ name, from }: Secret): RequestRefusal =>
  new RequestRefusal(
    502,
    from === undefined
      ? `The value of the secret ${name} was lost with a restart of the server. Set it again.`
      : `The stored secret ${from} of the secret ${name} was deleted, or lost its value with a restart of the server. Store it again, and set ${name} from it again.`,
  );
