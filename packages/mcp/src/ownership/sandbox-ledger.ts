/** Records each sandbox that this server made: its owner, the name that the owner gave it, and whether it is leased. */
import type { Sandbox } from "cloud-sandbox";

/** Sandboxes recorded for one token. The ledger drops the oldest beyond them, which then ends at its own deadline. */
const mostRecorded = 10_000;

/** Names kept of an owner's sandboxes that have ended. */
const mostFreed = 100;

/** A client of this server. */
export interface Owner {
  /** The digest of the token that the client sends; "" where no token is asked for. */
  readonly tokenDigest: string;
}

interface Entry {
  readonly tokenDigest: string;
  /** Undefined once the client has gone: then every client with the same token may use the sandbox. */
  owner: Owner | undefined;
  /** The name that its owner calls it by, and the sandbox that is called. */
  named: { readonly name: string; readonly sandbox: Sandbox } | undefined;
  /** Whether the sandbox lives only while its owner uses it, under a name that no other client can call. */
  readonly isLeased: boolean;
}

export class SandboxLedger {
  /** By sandbox id, the oldest first. */
  readonly #entries = new Map<string, Entry>();
  readonly #freed = new WeakMap<Owner, Set<string>>();

  add(id: string, owner: Owner, isLeased = false): void {
    const { tokenDigest } = owner;
    this.#entries.set(id, { owner, tokenDigest, isLeased, named: undefined });
    // The limit is for each token: making many sandboxes must not push those of other tokens out.
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

  /** The owner's latest names that are free again. */
  freedNames(owner: Owner): string[] {
    return [...(this.#freed.get(owner) ?? [])];
  }

  /** Takes a name away from the sandbox that has it or will have it. */
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

  /** A sandbox has ended by itself. One with a name stays recorded, so that the next call by that name learns of its end. */
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

  /** The owner has gone. Its sandboxes lose their names, and live until their deadlines or the server's end. */
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
