import { createHash, timingSafeEqual } from "node:crypto";

/** The control plane's API key. Comparing takes constant time, so that timing does not reveal the key. */
export class AccountKey {
  readonly #digest: Buffer;

  constructor(key: string) {
    this.#digest = digest(key);
  }

  matches(candidate: string): boolean {
    return timingSafeEqual(digest(candidate), this.#digest);
  }
}

/** Maps keys of any length to digests of the same length, which `timingSafeEqual` requires. */
function digest(key: string): Buffer {
  return createHash("sha256").update(key).digest();
}
