const retryMs = 500;

/**
 * Repeats failed writes until they succeed. Used for events that already happened and must be recorded, such as the end of
 * a sandbox. While writes fail, the store is probed every 500 ms.
 */
export class PendingWrites {
  readonly #writes = new Map<string, () => void>();
  #isFailing = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    /** A test write without effect; throws when the store cannot be written to. */
    private readonly probe: () => void,
  ) {}

  /** Whether the last write failed. */
  get isFailing(): boolean {
    return this.#isFailing;
  }

  /** Writes now, or as soon as the store can be written to again. Replaces a pending write of the same key. */
  ensure(key: string, write: () => void): void {
    this.#writes.set(key, write);
    this.#try(() => this.#do(key, write));
  }

  /** Writes now or throws. A success drops the pending write of the same key, which is out of date. */
  require(key: string, write: () => void): void {
    try {
      write();
    } catch (error) {
      this.#fails();
      throw error;
    }
    this.#writes.delete(key);
  }

  /** Throws when the store cannot be written to. Probes it only if the last write failed. */
  requireWritable(): void {
    if (!this.#isFailing) return;
    this.probe();
    this.#flush();
  }

  /** Tries the pending writes a last time and returns how many still failed. */
  close(): number {
    this.#flush();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return this.#writes.size;
  }

  #do(key: string, write: () => void): void {
    write();
    if (this.#writes.get(key) === write) this.#writes.delete(key);
  }

  #flush(): void {
    this.#try(() => {
      if (this.#writes.size === 0) this.probe();
      for (const [key, write] of [...this.#writes]) this.#do(key, write);
      this.#isFailing = false;
    });
  }

  #try(work: () => void): void {
    try {
      work();
    } catch {
      this.#fails();
    }
  }

  #fails(): void {
    this.#isFailing = true;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#flush();
    }, retryMs).unref();
  }
}
