/** Characters of the shortest value that is hidden. Shorter values, such as `1` or `true`, also occur in ordinary text. */
const shortest = 6;

/** Hides the values of a server's variables in texts and results that people may read. */
export class Secrets {
  readonly #values: readonly string[];

  constructor(variables: Readonly<Record<string, string>> = {}) {
    const long = Object.values(variables).filter((value) => value.length >= shortest);
    // Hide the longest value first, because one value may be part of another.
    this.#values = long.sort((one, other) => other.length - one.length);
  }

  /** Replaces the values in `text`, also where they are quoted as JSON. */
  hide(text: string): string {
    let safe = text;
    for (const value of this.#values)
      safe = safe.replaceAll(value, "[hidden]").replaceAll(JSON.stringify(value).slice(1, -1), "[hidden]");
    return safe;
  }

  /**
   * Replaces the values in all texts and numbers of a JSON value, property names included. A number with a value in it becomes a
   * text.
   */
  hideDeep(value: unknown): unknown {
    if (this.#values.length === 0) return value;
    if (typeof value === "string") return this.hide(value);
    if (typeof value === "number") {
      const safe = this.hide(String(value));
      return safe === String(value) ? value : safe;
    }
    if (Array.isArray(value)) return value.map((each) => this.hideDeep(each));
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value).map(([key, each]) => [this.hide(key), this.hideDeep(each)]);
    return Object.fromEntries(entries);
  }
}
