/** A sandbox's token as the control plane hands it out. */
export interface IssuedToken {
  value: string;
  /** By the server's clock. */
  expiresAt: Date | undefined;
}

interface HeldToken extends IssuedToken {
  /** By this machine's clock, in milliseconds; undefined where nothing tells. */
  dueAt: number | undefined;
  endsAt: number | undefined;
}

/** The token of one sandbox: renewed shortly before it expires, by one request however many calls wait for it. */
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

  /** Takes a token that came with something else, such as a new sandbox. */
  accept(issued: IssuedToken): void {
    this.#held = held(issued, Date.now());
  }

  /** A token to use now; not a promise when one is at hand, which is nearly always. */
  current(): string | Promise<string> {
    const token = this.#held;
    if (token !== undefined && (token.dueAt === undefined || Date.now() < token.dueAt)) return token.value;
    return this.#renewed();
  }

  /** Whether another token than the `refused` one can be had. */
  async replace(refused: string): Promise<boolean> {
    if (this.#held?.value === refused) this.#held = undefined;
    const token = this.#held ?? (await this.#renew());
    return token.value !== refused;
  }

  /** Gets a fresh token now. The one before stays valid until it expires. */
  async renew(): Promise<IssuedToken> {
    const { value, expiresAt } = await this.#renew();
    return { value, expiresAt };
  }

  async #renewed(): Promise<string> {
    try {
      return (await this.#renew()).value;
    } catch (error) {
      const token = this.#held;
      // Renewing begins early: until its end the token at hand still serves.
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
 * Due after nine tenths of its life, or five minutes before its end. The life is what the token itself says, since
 * this machine's clock may differ from the server's; without any usable time, only a 401 renews it.
 */
function held(issued: IssuedToken, now: number): HeldToken {
  const life =
    lifeOf(issued.value) ?? (issued.expiresAt === undefined ? 0 : issued.expiresAt.getTime() - now);
  if (!(life > 0)) return { ...issued, dueAt: undefined, endsAt: undefined };
  return { ...issued, dueAt: now + life - Math.min(life / 10, longestMargin), endsAt: now + life };
}

/** Milliseconds between `iat` and `exp` of a JSON Web Token. */
function lifeOf(token: string): number | undefined {
  try {
    const payload = token.split(".")[1] ?? "";
    const claims: { iat?: unknown; exp?: unknown } = JSON.parse(
      atob(payload.replaceAll("-", "+").replaceAll("_", "/")),
    );
    const { iat, exp } = claims;
    return typeof iat === "number" && typeof exp === "number" ? (exp - iat) * 1000 : undefined;
  } catch {
    // Not a JSON Web Token: a server may use others.
    return undefined;
  }
}
