/** Which client made which sandbox, so that nobody uses another's and none stays behind when the server ends. */

/** Most sandboxes remembered; the oldest beyond them is left to its deadline. */
const mostRemembered = 10_000;

export class CreatedSandboxes {
  /** By sandbox id; the client is undefined once it has gone. */
  readonly #makers = new Map<string, object | undefined>();

  add(id: string, client: object): void {
    this.#makers.set(id, client);
    const [oldest] = this.#makers.keys();
    if (this.#makers.size > mostRemembered && oldest !== undefined) this.#makers.delete(oldest);
  }

  delete(id: string): void {
    this.#makers.delete(id);
  }

  isOfAnother(id: string, client: object): boolean {
    const maker = this.#makers.get(id);
    return maker !== undefined && maker !== client;
  }

  /** Takes out the ids of one client, or of all. */
  take(client?: object): string[] {
    const ids = [...this.#makers]
      .filter(([, maker]) => client === undefined || maker === client)
      .map(([id]) => id);
    for (const id of ids) this.#makers.delete(id);
    return ids;
  }

  /** The client has gone; its sandboxes live on until their deadline, or the server's end. */
  release(client: object): void {
    for (const [id, maker] of this.#makers) if (maker === client) this.#makers.set(id, undefined);
  }
}
