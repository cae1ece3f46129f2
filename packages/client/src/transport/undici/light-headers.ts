/** Header values by lower-case name, in the form in which undici returns them. */
export type RawHeaders = Record<string, string | string[] | undefined>;

type HeaderEntries = ReturnType<Headers["entries"]>;
type HeaderNames = ReturnType<Headers["keys"]>;

/** Response headers without the cost of a real `Headers`, which is created only for rarely used methods. */
export class LightHeaders implements Headers {
  readonly #raw: RawHeaders;
  #full: Headers | undefined;

  constructor(raw: RawHeaders) {
    this.#raw = raw;
  }

  get(name: string): string | null {
    if (this.#full !== undefined) return this.#full.get(name);
    const value = this.#raw[name.toLowerCase()];
    return value === undefined ? null : typeof value === "string" ? value : value.join(", ");
  }

  has(name: string): boolean {
    return this.get(name) !== null;
  }

  append(name: string, value: string): void {
    this.#headers.append(name, value);
  }

  delete(name: string): void {
    this.#headers.delete(name);
  }

  set(name: string, value: string): void {
    this.#headers.set(name, value);
  }

  getSetCookie(): string[] {
    return this.#headers.getSetCookie();
  }

  forEach(...[callback, thisArg]: Parameters<Headers["forEach"]>): void {
    this.#headers.forEach(callback, thisArg);
  }

  entries(): HeaderEntries {
    return this.#headers.entries();
  }

  keys(): HeaderNames {
    return this.#headers.keys();
  }

  values(): HeaderNames {
    return this.#headers.values();
  }

  [Symbol.iterator](): HeaderEntries {
    return this.#headers.entries();
  }

  get #headers(): Headers {
    if (this.#full === undefined) {
      this.#full = new Headers();
      for (const [name, value] of Object.entries(this.#raw)) {
        for (const one of typeof value === "string" ? [value] : (value ?? [])) this.#full.append(name, one);
      }
    }
    return this.#full;
  }
}
