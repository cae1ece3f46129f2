import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

/** What lets somebody in: a token, or a password that the caller chose. */
export interface ViewerKey {
  readonly text: string;
  readonly expiresAt: number;
  readonly viewOnly: boolean;
  /** Aborts when the key expires or is revoked. */
  readonly revoked: AbortSignal;
}

/** Most keys that are valid at a time. A further one replaces the oldest. */
const mostKeys = 16;
/** Milliseconds that the answer to a wrong key takes. Wrong keys wait for each other, so that a password cannot be guessed. */
const wrongKeyDelayMs = 1000;
/** Wrong keys that may wait. Meanwhile nobody gets in with a password; a token is too long to be guessed. */
const mostWaiting = 10;

interface Issued extends ViewerKey {
  readonly isPassword: boolean;
  readonly revoke: () => void;
}

/** The keys that open a view or a browser. They are in the memory of the agent alone. */
export class ViewerKeys {
  readonly #keys: Issued[] = [];
  #wrong: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** A key that is valid for so many seconds: the password, or a random token. */
  issue(
    seconds: number,
    { password, viewOnly = false }: { password?: string | undefined; viewOnly?: boolean } = {},
  ): ViewerKey {
    const text = password ?? randomBytes(24).toString("base64url");
    const revocation = new AbortController();
    const timer = setTimeout(() => key.revoke(), seconds * 1000).unref();
    const key: Issued = {
      ...{ text, viewOnly, isPassword: password !== undefined },
      ...{ expiresAt: Date.now() + seconds * 1000, revoked: revocation.signal },
      revoke: () => {
        clearTimeout(timer);
        const at = this.#keys.indexOf(key);
        if (at >= 0) this.#keys.splice(at, 1);
        revocation.abort();
      },
    };
    this.#keys.push(key);
    if (this.#keys.length > mostKeys) this.#keys[0]?.revoke();
    return key;
  }

  /** The valid key of this text. Undefined, after a while, if there is none. */
  async find(text: string): Promise<ViewerKey | undefined> {
    const wanted = digest(text);
    const found = this.#keys.find((key) => timingSafeEqual(digest(key.text), wanted));
    const mayGuess = this.#waiting < mostWaiting;
    if (found && (mayGuess || !found.isPassword)) return found;
    if (!mayGuess) return undefined;
    this.#waiting += 1;
    this.#wrong = this.#wrong.then(() => sleep(wrongKeyDelayMs, undefined, { ref: false }));
    await this.#wrong;
    this.#waiting -= 1;
    return undefined;
  }

  revokeAll(): void {
    for (const key of [...this.#keys]) key.revoke();
  }
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
