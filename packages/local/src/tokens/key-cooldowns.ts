import { Problem } from "@cloud-sandbox/server-kit";

const firstSeconds = 1;
const mostSeconds = 60;
/** Milliseconds after which a key that did no harm meanwhile begins with {@link firstSeconds} again. */
const forgottenMs = 10 * 60_000;

interface Cooldown {
  seconds: number;
  /** In milliseconds, of a clock that does not jump. */
  endsAt: number;
}

/**
 * Makes an API key wait after a sandbox or program of its was ended for taking what the kernel counts for nobody: a second, and
 * twice as long each time. Each of them costs the server the start of a machine, so without the wait one caller could keep the
 * processors busy with machines that end at once. The server's own key never waits.
 */
export class KeyCooldowns {
  readonly #byKey = new Map<string, Cooldown>();

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Call it when a sandbox or program of this key was ended for that. */
  begin(keyId: string | undefined): void {
    if (keyId === undefined) return;
    const now = this.now();
    for (const [other, { endsAt }] of this.#byKey) if (now - endsAt > forgottenMs) this.#byKey.delete(other);
    const last = this.#byKey.get(keyId);
    const seconds = last ? Math.min(2 * last.seconds, mostSeconds) : firstSeconds;
    this.#byKey.set(keyId, { seconds, endsAt: now + seconds * 1000 });
  }

  /** Throws a 429 problem if the key has to wait. */
  requireOver(keyId: string | undefined): void {
    const left = keyId === undefined ? 0 : (this.#byKey.get(keyId)?.endsAt ?? 0) - this.now();
    if (left <= 0) return;
    const seconds = Math.ceil(left / 1000);
    const message =
      "A sandbox or program of this API key was ended, because it took too much of the kernel, which is shared with others.";
    throw new Problem(429, "RATE_LIMIT_EXCEEDED", message, {
      hint: `Wait ${seconds} s. The wait doubles each time, up to ${mostSeconds} s.`,
      headers: { "retry-after": String(seconds) },
      details: { retry_after_seconds: seconds },
    });
  }
}
