/** A credential. It is a class, so that nothing that prints, clones or serializes the object around it shows the text. */
export class SecretValue {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The credential itself, for the head of a request that may have it. */
  reveal(): string {
    return this.#text;
  }
}
