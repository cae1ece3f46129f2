import type { KeptContext } from "@cloud-sandbox/server-kit/handlers";

/** Where code of one language keeps its variables from one execution to the next, one execution at a time. */
class Context implements KeptContext {
  readonly id = globalThis.crypto.randomUUID();
  variables = new Map<string, unknown>();
  lastActivity = new Date();
  pending = 0;
  isBusy = false;
  /** Whether code has run in it. */
  isUsed = false;
  /** Why the variables of this name are gone, until that was told. */
  loss: string | undefined;
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
    this.isUsed = true;
    this.lastActivity = new Date();
    return () => {
      this.isBusy = false;
      leave();
    };
  }
}

const keeping: readonly string[] = ["python", "javascript"];
/** Contexts that are kept; of more, the idle one that was used least recently ends. */
const mostContexts = 8;
const roomMessage =
  "This context had ended since the execution before, to make room for others: its variables are gone.";

/** The contexts of a sandbox. */
export class Contexts {
  /** The one used least recently comes first. */
  readonly #contexts = new Map<string, Context>();
  /** Those that ended to make room before anybody was told. */
  readonly #missed = new Set<string>();

  list(): readonly Context[] {
    return [...this.#contexts.values()];
  }

  /** The context of that name, made when it is first asked for; undefined for languages that keep nothing. */
  of(language: string, name = "default"): Context | undefined {
    if (!keeping.includes(language)) return undefined;
    const key = JSON.stringify([language, name]);
    const context = this.#contexts.get(key) ?? this.#make(key, language, name);
    this.#contexts.delete(key);
    this.#contexts.set(key, context);
    return context;
  }

  clear(): void {
    this.#contexts.clear();
    this.#missed.clear();
  }

  #make(key: string, language: string, name: string): Context {
    const idle = [...this.#contexts].find(([, { isBusy, pending }]) => !isBusy && pending === 0);
    if (this.#contexts.size >= mostContexts && idle) {
      const [oldest, { isUsed, loss }] = idle;
      this.#contexts.delete(oldest);
      if (isUsed || loss !== undefined) this.#missed.add(oldest);
    }
    const context = new Context(language, name);
    if (this.#missed.delete(key)) context.loss = roomMessage;
    return context;
  }
}
