import type { KeptContext } from "@cloud-sandbox/protocol/handlers";

/** Where code of one language keeps its variables from one execution to the next, one execution at a time. */
class Context implements KeptContext {
  readonly id = globalThis.crypto.randomUUID();
  variables = new Map<string, unknown>();
  lastActivity = new Date();
  pending = 0;
  isBusy = false;
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    readonly language: string,
    readonly name: string,
  ) {}

  /** Resolves with what gives the place back, when those before have given it back. */
  async enter(): Promise<() => void> {
    this.pending += 1;
    const before = this.#last;
    let leave = (): void => undefined;
    this.#last = new Promise<void>((resolve) => {
      leave = resolve;
    });
    await before;
    this.pending -= 1;
    this.isBusy = true;
    this.lastActivity = new Date();
    return () => {
      this.isBusy = false;
      leave();
    };
  }
}

const keeping: readonly string[] = ["python", "javascript"];

/** The contexts of a sandbox. */
export class Contexts {
  readonly #contexts = new Map<string, Context>();

  list(): readonly Context[] {
    return [...this.#contexts.values()];
  }

  /** The context of that name, made when it is first asked for; undefined for languages that keep nothing. */
  of(language: string, name = "default"): Context | undefined {
    if (!keeping.includes(language)) return undefined;
    const key = JSON.stringify([language, name]);
    const context = this.#contexts.get(key) ?? new Context(language, name);
    this.#contexts.set(key, context);
    return context;
  }

  clear(): void {
    this.#contexts.clear();
  }
}
