/** Records each sandbox that this server made: its owner, the name that the owner gave it, and whether it is leased. */
import type { Sandbox } from "cloud-sandbox";

/**
 * The most sandboxes recorded for one token. Above that the oldest is dropped from the ledger; it then ends at its own
 * deadline.
 */
const mostRecorded = 10_000;

/** How many names of ended sandboxes are remembered for each owner. */
const mostFreed = 100;

/** A client of this server. */
export interface Owner {
  /** The digest of the token that the client sends; "" if this server needs no token. */
  readonly tokenDigest: string;
}

interface Entry {
  readonly tokenDigest: string;
  /** Undefined once the client has gone: then every client with the same token may use the sandbox. */
  owner: Owner | undefined;
  /** The name that the owner gave the sandbox, and the sandbox itself. Undefined if it has no name. */
  named: { readonly name: string; readonly sandbox: Sandbox } | undefined;
  /**
   * Whether only the owner can call the sandbox, by a name that no other client knows. It then lives only while the
   * owner uses it.
   */
  readonly isLeased: boolean;
}

export class SandboxLedger {
  /** Entries by sandbox id, the oldest first. */
  readonly #entries = new Map<string, Entry>();
  readonly #freed = new WeakMap<Owner, Set<string>>();

  add(id: string, owner: Owner, isLeased = false): void {
    const { tokenDigest } = owner;
    this.#entries.set(id, { owner, tokenDigest, isLeased, named: undefined });
    // The limit is for each token, so that a client that creates many sandboxes does not push out those of other
    // clients.
    const [oldest, ...others] = this.#idsWhere((entry) => entry.tokenDigest === tokenDigest);
    if (others.length >= mostRecorded && oldest !== undefined) this.#entries.delete(oldest);
  }

  /** Gives a recorded sandbox a name, which must be free. */
  name(sandbox: Sandbox, name: string): void {
    const entry = this.#entries.get(sandbox.id);
    if (entry?.owner === undefined) return;
    entry.named = { name, sandbox };
    this.#freed.get(entry.owner)?.delete(name);
  }

  /** The names that an owner gave its sandboxes, and the sandboxes that have them. */
  named(owner: Owner): ReadonlyMap<string, Sandbox> {
    const own = [...this.#entries.values()].filter((entry) => entry.owner === owner);
    return new Map(own.flatMap(({ named }) => (named ? [[named.name, named.sandbox] as const] : [])));
  }

  /** The owner's names whose sandboxes have ended, the latest last. */
  freedNames(owner: Owner): string[] {
    return [...(this.#freed.get(owner) ?? [])];
  }

  /** Frees a name, whether its sandbox exists already or is still being created. */
  free(owner: Owner, name: string): void {
    for (const entry of this.#entries.values())
      if (entry.owner === owner && entry.named?.name === name) entry.named = undefined;
    const freed = this.#freed.get(owner) ?? new Set();
    this.#freed.set(owner, freed.add(name));
    const [oldest] = freed;
    if (freed.size > mostFreed && oldest !== undefined) freed.delete(oldest);
  }

  delete(id: string): void {
    const { owner, named } = this.#entries.get(id) ?? {};
    if (owner !== undefined && named !== undefined) this.free(owner, named.name);
    this.#entries.delete(id);
  }

  /**
   * Called when a sandbox has ended by itself. If it has a name, its entry is kept, so that the next call with that
   * name gets an error that says so.
   */
  expire(id: string): void {
    if (this.#entries.get(id)?.named === undefined) this.#entries.delete(id);
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

  /**
   * Called when the owner has disconnected. Its sandboxes lose their names and stay until their deadlines or the
   * server's shutdown.
   */
  release(owner: Owner): void {
    for (const entry of this.#entries.values())
      if (entry.owner === owner) Object.assign(entry, { owner: undefined, named: undefined });
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
