/** The sandboxes that one client calls by names of its own; no other client sees them. */
import type { Sandbox } from "cloud-sandbox";

/** Most names remembered of sandboxes that are gone. */
const mostEnded = 100;

export class NamedSandboxes {
  readonly #byName = new Map<string, Promise<Sandbox>>();
  readonly #ended = new Set<string>();

  /** The sandbox of that name; `create` makes it when there is none, once for all who ask meanwhile. */
  getOrCreate(name: string, create: () => Promise<Sandbox>): Promise<Sandbox> {
    const existing = this.#byName.get(name);
    if (existing !== undefined) return existing;
    const created = create();
    this.#byName.set(name, created);
    this.#ended.delete(name);
    created.catch(() => this.#forget(name, created));
    return created;
  }

  /** Undefined when there is none; waits for one that is being created. */
  async get(name: string): Promise<Sandbox | undefined> {
    return this.#byName.get(name);
  }

  names(): string[] {
    return [...this.#byName.keys()];
  }

  /** The last names whose sandbox is gone. */
  endedNames(): string[] {
    return [...this.#ended];
  }

  /** Gives the name to `sandbox`. Gives the one that had it until now. */
  replace(name: string, sandbox: Sandbox): Promise<Sandbox> | undefined {
    const replaced = this.#byName.get(name);
    this.#byName.set(name, Promise.resolve(sandbox));
    this.#ended.delete(name);
    return replaced;
  }

  /** The sandbox of that name, whose name is free from now on. */
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
