/**
 * A credential. It is a class, so that nothing that prints, clones or serializes the object around it shows the text. A stored secret
 * shares it with the sandboxes that name it.
 */
export class SecretValue {
  #text: string | undefined;

  constructor(text: string | undefined) {
    this.#text = text;
  }

  /** The credential itself, for the head of a request that may have it. Undefined if it is lost. */
  reveal(): string | undefined {
    return this.#text;
  }

  replace(text: string | undefined): void {
    this.#text = text;
  }
}
