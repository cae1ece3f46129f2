/** Records which client of this server made which sandbox: nobody uses another's, and none stays behind when the server ends. */

/** Sandboxes recorded for one token. The ledger drops the oldest beyond them, which then ends at its own deadline. */
const mostRecorded = 10_000;

/** A client of this server. */
export interface Owner {
  /** The digest of the token that the client sends; "" where no token is asked for. */
  readonly tokenDigest: string;
}

interface Entry {
  readonly tokenDigest: string;
  /** Undefined once the client has gone: then every client with the same token may use the sandbox. */
  readonly owner: Owner | undefined;
  /** Whether the sandbox lives only while its owner uses it, under a name that no other client can call. */
  readonly isLeased: boolean;
}

export class SandboxLedger {
  /** By sandbox id, the oldest first. */
  readonly #entries = new Map<string, Entry>();

  add(id: string, owner: Owner, isLeased = false): void {
    const { tokenDigest } = owner;
    this.#entries.set(id, { owner, tokenDigest, isLeased });
    // The limit is for each token: making many sandboxes must not push those of other tokens out.
    const [oldest, ...others] = this.#idsWhere((entry) => entry.tokenDigest === tokenDigest);
    if (others.length >= mostRecorded && oldest !== undefined) this.#entries.delete(oldest);
  }

  delete(id: string): void {
    this.#entries.delete(id);
  }

  isOfAnother(id: string, client: Owner): boolean {
    const entry = this.#entries.get(id);
    if (entry === undefined) return false;
    return entry.owner === undefined ? entry.tokenDigest !== client.tokenDigest : entry.owner !== client;
  }

  /** Removes the entries of one owner, or of all, and returns their ids. */
  take(owner?: Owner): string[] {
    return this.#take((entry) => owner === undefined || entry.owner === owner);
  }

  /** Removes the entries of the sandboxes that only this owner can call, and returns their ids. */
  takeLeased(owner: Owner): string[] {
    return this.#take((entry) => entry.owner === owner && entry.isLeased);
  }

  /** The owner has gone. Its sandboxes live until their deadlines or the server's end. */
  release(owner: Owner): void {
    for (const [id, entry] of this.#entries)
      if (entry.owner === owner) this.#entries.set(id, { ...entry, owner: undefined });
  }

  #take(isTaken: (entry: Entry) => boolean): string[] {
    const ids = this.#idsWhere(isTaken);
    for (const id of ids) this.#entries.delete(id);
    return ids;
  }

  #idsWhere(isMeant: (entry: Entry) => boolean): string[] {
    return [...this.#entries].filter(([, entry]) => isMeant(entry)).map(([id]) => id);
  }
}
