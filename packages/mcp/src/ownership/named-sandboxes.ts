/** The names that one client gave its sandboxes. No other client sees them. */
import type { Sandbox } from "cloud-sandbox";

/** Names kept of sandboxes that have ended. */
const mostEnded = 100;

export class NamedSandboxes {
  readonly #byName = new Map<string, Promise<Sandbox>>();
  readonly #ended = new Set<string>();

  /** The sandbox of that name. When there is none, `create` makes it, once for all calls that ask at the same time. */
  getOrCreate(name: string, create: () => Promise<Sandbox>): Promise<Sandbox> {
    const existing = this.#byName.get(name);
    if (existing !== undefined) return existing;
    const created = create();
    this.#byName.set(name, created);
    this.#ended.delete(name);
    created.catch(() => this.#forget(name, created));
    return created;
  }

  /** Waits for a sandbox that is being created. Undefined when there is none. */
  async get(name: string): Promise<Sandbox | undefined> {
    return this.#byName.get(name);
  }

  names(): string[] {
    return [...this.#byName.keys()];
  }

  /** The last names whose sandbox has ended. */
  endedNames(): string[] {
    return [...this.#ended];
  }

  /** Gives the name to `sandbox`, and returns the sandbox that had it. */
  replace(name: string, sandbox: Sandbox): Promise<Sandbox> | undefined {
    const replaced = this.#byName.get(name);
    this.#byName.set(name, Promise.resolve(sandbox));
    this.#ended.delete(name);
    return replaced;
  }

  /** Frees the name, and returns the sandbox that had it. */
  take(name: string): Promise<Sandbox> | undefined {
    const taken = this.#byName.get(name);
    this.delete(name);
    return taken;
  }

  delete(name: string): void {
    if (!this.#byName.delete(name)) return;
    this.#ended.add(name);
    const [oldest] = this.#ended;
    if (this.#ended.size > mostEnded && oldest !== undefined) this.#ended.delete(oldest);
  }

  #forget(name: string, failed: Promise<Sandbox>): void {
    if (this.#byName.get(name) === failed) this.#byName.delete(name);
  }
}
