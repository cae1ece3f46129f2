const retryMs = 500;

/**
 * Writes that say what has happened already, such as the end of a sandbox: each is done at once, or again and again until
 * it can be. While nothing can be written, it tries whether that has changed.
 */
export class PendingWrites {
  readonly #writes = new Map<string, () => void>();
  #isFailing = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    /** Writes something that changes nothing; throws when that is not possible. */
    private readonly probe: () => void,
  ) {}

  /** Whether the last write failed. */
  get isFailing(): boolean {
    return this.#isFailing;
  }

  /** Does the write as soon as it can be done. One of the same key that is still to be done is replaced. */
  ensure(key: string, write: () => void): void {
    this.#writes.set(key, write);
    this.#try(() => this.#do(key, write));
  }

  /** Does a write that must be done now, or throws. What is still to be done under its key is out of date then. */
  require(key: string, write: () => void): void {
    try {
      write();
    } catch (error) {
      this.#fails();
      throw error;
    }
    this.#writes.delete(key);
  }

  /** Throws when nothing can be written, without trying where there is no doubt. */
  requireWritable(): void {
    if (!this.#isFailing) return;
    this.probe();
    this.#flush();
  }

  /** Tries for the last time; how many writes are left undone. */
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
