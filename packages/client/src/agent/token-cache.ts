/** A sandbox's token, as issued by the control plane. */
export interface IssuedToken {
  value: string;
  /** When the token expires, by the server's clock. */
  expiresAt: Date | undefined;
}

interface StoredToken extends IssuedToken {
  /** When to renew the token, in milliseconds by this machine's clock; undefined if its lifetime is unknown. */
  dueAt: number | undefined;
  endsAt: number | undefined;
}

/** The token of one sandbox. It is renewed shortly before it expires, with one request for all waiting calls. */
export class TokenCache {
  readonly #issue: () => Promise<IssuedToken>;
  #token: StoredToken | undefined;
  #renewal: Promise<StoredToken> | undefined;

  constructor(issue: () => Promise<IssuedToken>) {
    this.#issue = issue;
  }

  get value(): string | undefined {
    return this.#token?.value;
  }

  /** Stores a token that came with another answer, such as a new sandbox. */
  accept(issued: IssuedToken): void {
    this.#token = withTimes(issued, Date.now());
  }

  /** The token to use now. Returns a string, not a promise, if the stored token is good, which is nearly always. */
  current(): string | Promise<string> {
    const token = this.#token;
    if (token !== undefined && (token.dueAt === undefined || Date.now() < token.dueAt)) return token.value;
    return this.#renewed();
  }

  /** Whether a token other than the refused one is available. Renews it if needed. */
  async replace(refused: string): Promise<boolean> {
    if (this.#token?.value === refused) this.#token = undefined;
    const token = this.#token ?? (await this.#renew());
    return token.value !== refused;
  }

  /** Renews the token now. The previous one stays valid until it expires. */
  async renew(): Promise<IssuedToken> {
    const { value, expiresAt } = await this.#renew();
    return { value, expiresAt };
  }

  async #renewed(): Promise<string> {
    try {
      return (await this.#renew()).value;
    } catch (error) {
      const token = this.#token;
      // Renewal starts before the token expires: if it fails, the old token still works until then.
      if (token?.endsAt !== undefined && Date.now() < token.endsAt) return token.value;
      throw error;
    }
  }

  #renew(): Promise<StoredToken> {
    this.#renewal ??= this.#issue()
      .then((issued) => {
        this.#token = withTimes(issued, Date.now());
        return this.#token;
      })
      .finally(() => {
        this.#renewal = undefined;
      });
    return this.#renewal;
  }
}

const longestMargin = 5 * 60_000;

/**
 * Adds the times at which the token must be renewed and expires. Renewal is due when a tenth of its lifetime, at most
 * five minutes, is left. The lifetime is read from the token itself, because this machine's clock may differ from the
 * server's. If it is unknown, only a 401 renews the token.
 */
function withTimes(issued: IssuedToken, now: number): StoredToken {
  const life =
    lifeOf(issued.value) ?? (issued.expiresAt === undefined ? 0 : issued.expiresAt.getTime() - now);
  if (!(life > 0)) return { ...issued, dueAt: undefined, endsAt: undefined };
  return { ...issued, dueAt: now + life - Math.min(life / 10, longestMargin), endsAt: now + life };
}

/** Lifetime of a JSON Web Token in milliseconds: `exp` minus `iat`. */
function lifeOf(token: string): number | undefined {
  try {
    const payload = token.split(".")[1] ?? "";
    const claims: { iat?: unknown; exp?: unknown } = JSON.parse(
      atob(payload.replaceAll("-", "+").replaceAll("_", "/")),
    );
    const { iat, exp } = claims;
    return typeof iat === "number" && typeof exp === "number" ? (exp - iat) * 1000 : undefined;
  } catch {
    // The token is not a JSON Web Token: servers may use other formats.
    return undefined;
  }
}
