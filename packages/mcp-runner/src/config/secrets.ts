/** The shortest value that is hidden: a shorter one, such as `1` or `true`, would be hidden in ordinary words, too. */
const shortest = 6;

/** Hides the values of a server's variables in everything that people may read. */
export class Secrets {
  readonly #values: readonly string[];

  constructor(variables: Readonly<Record<string, string>> = {}) {
    const long = Object.values(variables).filter((value) => value.length >= shortest);
    // The longest first, because one value may be part of another.
    this.#values = long.sort((one, other) => other.length - one.length);
  }

  /** `text` without the values, also where they are quoted as JSON. */
  hide(text: string): string {
    let safe = text;
    for (const value of this.#values)
      safe = safe.replaceAll(value, "[hidden]").replaceAll(JSON.stringify(value).slice(1, -1), "[hidden]");
    return safe;
  }

  /** A JSON value without the values, property names included. */
  hideDeep(value: unknown): unknown {
    return value === undefined || this.#values.length === 0
      ? value
      : JSON.parse(this.hide(JSON.stringify(value)));
  }
}
