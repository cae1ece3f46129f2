import { limits } from "@cloud-sandbox/protocol/limits";
import type { KeptContext } from "@cloud-sandbox/server-kit/handlers";

/** The variables that code of one language shares between executions. Executions in a context run one at a time. */
class Context implements KeptContext {
  readonly id = globalThis.crypto.randomUUID();
  variables = new Map<string, unknown>();
  lastActivity = new Date();
  pending = 0;
  isBusy = false;
  /** Whether code has run in the context. */
  isUsed = false;
  /** Message that the context's variables were lost, until an execution has reported it. */
  loss: string | undefined;
  /** Message that the context was restarted, until code has asked for an unknown name. */
  hint: string | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    readonly language: string,
    readonly name: string,
  ) {}

  /** Waits for the context's earlier executions to end. Resolves with the function that lets the next one run. */
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
/** The most contexts kept. To make room, the idle context that was used least recently is removed. */
const roomMessage =
  "This context was ended after the previous execution, to make room for other contexts: its variables are gone.";

const restartedMessage =
  "This context was restarted: the variables of earlier executions are gone. Run the code again that sets them.";

/** All contexts of a sandbox. */
export class Contexts {
  /** Ordered by last use, the latest at the end. */
  readonly #contexts = new Map<string, Context>();
  /** Keys of contexts that were removed to make room, until an execution has reported it. */
  readonly #missed = new Set<string>();

  list(): readonly Context[] {
    return [...this.#contexts.values()];
  }

  /** The context of this name, created on first use; undefined for languages that keep no variables. */
  of(language: string, name = "default"): Context | undefined {
    if (!keeping.includes(language)) return undefined;
    const key = JSON.stringify([language, name]);
    const context = this.#contexts.get(key) ?? this.#make(key, language, name);
    this.#contexts.delete(key);
    this.#contexts.set(key, context);
    return context;
  }

  async restart(context: Context): Promise<void> {
    context.variables = new Map();
    context.hint = restartedMessage;
  }

  async remove(context: Context): Promise<void> {
    for (const [key, other] of this.#contexts) if (other === context) this.#contexts.delete(key);
  }

  clear(): void {
    this.#contexts.clear();
    this.#missed.clear();
  }

  #make(key: string, language: string, name: string): Context {
    const idle = [...this.#contexts].find(([, { isBusy, pending }]) => !isBusy && pending === 0);
    if (this.#contexts.size >= limits.contexts && idle) {
      const [oldest, { isUsed, loss }] = idle;
      this.#contexts.delete(oldest);
      if (isUsed || loss !== undefined) this.#missed.add(oldest);
    }
    const context = new Context(language, name);
    if (this.#missed.delete(key)) context.loss = roomMessage;
    return context;
  }
}
