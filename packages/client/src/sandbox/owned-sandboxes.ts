import type { beforeTermination } from "../transport/calls/termination-watch.js";

/** What a client has created and not deleted yet, so that a signal that ends the process leaves none of it. */
export class OwnedSandboxes {
  readonly #delete: (id: string) => Promise<void>;
  /** Ids by the creation that they come of; those that are there already, as resolved promises. */
  readonly #ids = new Map<string, Promise<string | undefined>>();
  #watch: typeof beforeTermination | undefined;
  #leave: (() => void) | undefined;
  #serial = 0;

  constructor(deleteOne: (id: string) => Promise<void>) {
    this.#delete = deleteOne;
  }

  /** Loads what watches for signals; before the first is taken. */
  async ready(): Promise<void> {
    this.#watch ??= (await import("../transport/calls/termination-watch.js")).beforeTermination;
  }

  /** Takes one whose creation is under way; a creation that fails leaves nothing. */
  expect(creation: Promise<string>): void {
    const coming = `creation ${this.#serial++}`;
    const id = creation.then(
      (known) => {
        this.#keep(known, id);
        this.#drop(coming);
        return known;
      },
      () => {
        this.#drop(coming);
        return undefined;
      },
    );
    this.#keep(coming, id);
  }

  forget(id: string): void {
    this.#drop(id);
  }

  /** Deletes all of them, those included whose creation is under way. Gives what went wrong. */
  async deleteAll(): Promise<unknown[]> {
    const ids = new Set(await Promise.all(this.#ids.values()));
    ids.delete(undefined);
    const deletions = await Promise.allSettled([...ids].map((id) => id && this.#delete(id)));
    return deletions.flatMap((deletion) => (deletion.status === "rejected" ? [deletion.reason] : []));
  }

  #keep(key: string, id: Promise<string | undefined>): void {
    const [oldest] = this.#ids.keys();
    if (this.#ids.size >= most && oldest !== undefined) this.#ids.delete(oldest);
    this.#ids.set(key, id);
    this.#leave ??= this.#watch?.(() => this.deleteAll().then(() => undefined));
  }

  #drop(key: string): void {
    this.#ids.delete(key);
    if (this.#ids.size > 0) return;
    this.#leave?.();
    this.#leave = undefined;
  }
}

/** Sandboxes that ended by themselves are not noticed; the oldest are forgotten. */
const most = 10_000;
