const retryMs = 500;

/** A write to the store. It is done when it returns, or when its promise resolves. */
type Write = () => void | Promise<void>;

/**
 * Repeats failed writes until they succeed. Used for events that already happened and must be recorded, such as the end of
 * a sandbox. While writes fail, the store is probed every 500 ms.
 */
export class PendingWrites {
  readonly #writes = new Map<string, Write>();
  /** The last write of each key that has not ended: writes of one key are made one after another. */
  readonly #queues = new Map<string, Promise<void>>();
  #isFailing = false;
  #flushing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    /** A test write without effect; throws when the store cannot be written to. */
    private readonly probe: Write,
  ) {}

  /** Whether the last write failed. */
  get isFailing(): boolean {
    return this.#isFailing;
  }

  /** Writes now, or as soon as the store can be written to again. Replaces a pending write of the same key. */
  ensure(key: string, write: Write): void {
    this.#writes.set(key, write);
    this.#do(key, write).catch(() => this.#fails());
  }

  /**
   * Writes now, after earlier writes of the same key, or rejects. A success drops the pending write of the same key, which is
   * out of date.
   */
  save(key: string, write: Write): Promise<void> {
    const outdated = this.#writes.get(key);
    return this.#inOrder(key, async () => {
      try {
        await write();
      } catch (error) {
        this.#fails();
        throw error;
      }
      if (outdated && this.#writes.get(key) === outdated) this.#writes.delete(key);
    });
  }

  /** Like `save`, for a write that is done when it returns. */
  require(key: string, write: () => void): void {
    try {
      write();
    } catch (error) {
      this.#fails();
      throw error;
    }
    this.#writes.delete(key);
  }

  /** Rejects when the store cannot be written to. Probes it only if the last write failed. */
  async requireWritable(): Promise<void> {
    if (!this.#isFailing) return;
    await this.probe();
    await this.#flush();
  }

  /** Tries the pending writes a last time and resolves with how many still failed. */
  async close(): Promise<number> {
    await Promise.allSettled(this.#queues.values());
    await this.#flush();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return this.#writes.size;
  }

  #do(key: string, write: Write): Promise<void> {
    return this.#inOrder(key, async () => {
      if (this.#writes.get(key) !== write) return;
      await write();
      if (this.#writes.get(key) === write) this.#writes.delete(key);
    });
  }

  /** Begins at once if no other write of the key is under way. */
  #inOrder(key: string, work: () => Promise<void>): Promise<void> {
    const last = this.#queues.get(key);
    const write = last === undefined ? work() : last.then(work, work);
    this.#queues.set(key, write);
    const leave = (): void => {
      if (this.#queues.get(key) === write) this.#queues.delete(key);
    };
    write.then(leave, leave);
    return write;
  }

  #flush(): Promise<void> {
    this.#flushing ??= this.#flushOnce().finally(() => {
      this.#flushing = undefined;
    });
    return this.#flushing;
  }

  async #flushOnce(): Promise<void> {
    try {
      if (this.#writes.size === 0) await this.probe();
      for (const [key, write] of [...this.#writes]) await this.#do(key, write);
      this.#isFailing = false;
    } catch {
      this.#fails();
    }
  }

  #fails(): void {
    this.#isFailing = true;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#flush();
    }, retryMs).unref();
  }
}
