/** A sandbox's token, as issued by the control plane. */
export interface IssuedToken {
  value: string;
  /** When the token expires, by the server's clock. */
  expiresAt: Date | undefined;
}

interface HeldToken extends IssuedToken {
  /** When to renew the token, in milliseconds by this machine's clock; undefined if its lifetime is unknown. */
  dueAt: number | undefined;
  endsAt: number | undefined;
}

/** The token of one sandbox. It is renewed shortly before it expires, with one request for all waiting calls. */
export class TokenCache {
  readonly #issue: () => Promise<IssuedToken>;
  #held: HeldToken | undefined;
  #renewal: Promise<HeldToken> | undefined;

  constructor(issue: () => Promise<IssuedToken>) {
    this.#issue = issue;
  }

  get value(): string | undefined {
    return this.#held?.value;
  }

  /** Stores a token that came with another answer, such as a new sandbox. */
  accept(issued: IssuedToken): void {
    this.#held = held(issued, Date.now());
  }

  /** The token to use now. Returns a string, not a promise, if the stored token is good, which is nearly always. */
  current(): string | Promise<string> {
    const token = this.#held;
    if (token !== undefined && (token.dueAt === undefined || Date.now() < token.dueAt)) return token.value;
    return this.#renewed();
  }

  /** Whether a token other than the refused one is available. Renews it if needed. */
  async replace(refused: string): Promise<boolean> {
    if (this.#held?.value === refused) this.#held = undefined;
    const token = this.#held ?? (await this.#renew());
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
      const token = this.#held;
      // Renewal starts before the token expires: if it fails, the old token still works until then.
      if (token?.endsAt !== undefined && Date.now() < token.endsAt) return token.value;
      throw error;
    }
  }

  #renew(): Promise<HeldToken> {
    this.#renewal ??= this.#issue()
      .then((issued) => {
        this.#held = held(issued, Date.now());
        return this.#held;
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
function held(issued: IssuedToken, now: number): HeldToken {
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
