/** Which client made which sandbox, so that nobody uses another's and none stays behind when the server ends. */

/** Most sandboxes remembered for one token; the oldest beyond them is left to its deadline. */
const mostRemembered = 10_000;

/** A client of this server. */
export interface Maker {
  /** Whose token it sends; "" where no token is asked for. */
  readonly holder: string;
}

interface Entry extends Maker {
  /** Undefined once it has gone: then every client of the same token may use the sandbox. */
  readonly client: Maker | undefined;
  /** Whether only its client can call it, by a name of its own. */
  readonly isHeld: boolean;
}

export class CreatedSandboxes {
  /** By sandbox id. */
  readonly #made = new Map<string, Entry>();

  add(id: string, client: Maker, isHeld = false): void {
    const { holder } = client;
    this.#made.set(id, { client, holder, isHeld });
    // Those of other tokens stay: nobody gets at them by making many.
    const [oldest, ...others] = this.#idsWhere((made) => made.holder === holder);
    if (others.length >= mostRemembered && oldest !== undefined) this.#made.delete(oldest);
  }

  delete(id: string): void {
    this.#made.delete(id);
  }

  isOfAnother(id: string, client: Maker): boolean {
    const made = this.#made.get(id);
    if (made === undefined) return false;
    return made.client === undefined ? made.holder !== client.holder : made.client !== client;
  }

  /** Takes out the ids of one client, or of all. */
  take(client?: Maker): string[] {
    return this.#take((made) => client === undefined || made.client === client);
  }

  /** Takes out the ids of those that only this client can call. */
  takeHeld(client: Maker): string[] {
    return this.#take((made) => made.client === client && made.isHeld);
  }

  /** The client has gone; its sandboxes live on until their deadline, or the server's end. */
  release(client: Maker): void {
    for (const [id, made] of this.#made)
      if (made.client === client) this.#made.set(id, { ...made, client: undefined });
  }

  #take(isMeant: (made: Entry) => boolean): string[] {
    const ids = this.#idsWhere(isMeant);
    for (const id of ids) this.#made.delete(id);
    return ids;
  }

  /** The one made first before the others. */
  #idsWhere(isMeant: (made: Entry) => boolean): string[] {
    return [...this.#made].filter(([, made]) => isMeant(made)).map(([id]) => id);
  }
}
