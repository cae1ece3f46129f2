import { createHash, timingSafeEqual } from "node:crypto";

/** The one key of this control plane. Comparing takes the same time whatever is given. */
export class AccountKey {
  readonly #digest: Buffer;

  constructor(key: string) {
    this.#digest = digest(key);
  }

  matches(candidate: string): boolean {
    return timingSafeEqual(digest(candidate), this.#digest);
  }
}

/** Digests are of one length, whatever the length of the key that was given. */
function digest(key: string): Buffer {
  return createHash("sha256").update(key).digest();
}
