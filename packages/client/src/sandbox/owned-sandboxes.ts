import { beforeTermination } from "../transport/calls/termination-watch.js";

/** The sandboxes that a client created and has not deleted yet. A signal that ends the process deletes them. */
export class OwnedSandboxes {
  readonly #delete: (id: string) => Promise<void>;
  /** Ids of the sandboxes. The key is the id once it is known, and a serial number while the sandbox is being created. */
  readonly #ids = new Map<string, Promise<string | undefined>>();
  #leave: (() => void) | undefined;
  #serial = 0;

  constructor(deleteOne: (id: string) => Promise<void>) {
    this.#delete = deleteOne;
  }

  /** Adds a sandbox that is being created. If the creation fails, it is removed again. */
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

  /** Deletes all sandboxes, also those still being created. Resolves with the errors of the deletions that failed. */
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
    this.#leave ??= beforeTermination(() => this.deleteAll().then(() => undefined));
  }

  #drop(key: string): void {
    this.#ids.delete(key);
    if (this.#ids.size > 0) return;
    this.#leave?.();
    this.#leave = undefined;
  }
}

/**
 * The most ids remembered, oldest dropped first: sandboxes that expire are never removed, so the list would grow forever.
 */
const most = 10_000;
