import { randomUUID } from "node:crypto";

/**
 * A credential. It is a class, so that nothing that prints, clones or serializes the object around it shows the text. A stored secret
 * shares it with the sandboxes that name it. Its id stays when the text is replaced: a stored secret that is deleted, and another
 * of its name, are told apart by it.
 */
export class SecretValue {
  #text: string | undefined;

  constructor(
    text: string | undefined,
    readonly id: string = randomUUID(),
  ) {
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
