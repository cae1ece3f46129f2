/** The backend of all clients of one server: opened when it is first needed, closed when the server ends. */

import { CreatedSandboxes, type Maker } from "../ownership/created-sandboxes.js";
import { IsolatedRuns } from "../ownership/isolated-runs.js";
import type { Environment } from "../settings/environment.js";
import { type Backend, type LocalOptions, openBackend } from "./backend.js";

export interface SharedBackendOptions {
  readonly environment: Environment;
  readonly local?: LocalOptions | undefined;
  /** Leaves sandboxes that were made here to their deadlines, as far as the backend outlives the server. */
  readonly keepSandboxes?: boolean;
  readonly log: (line: string) => void;
}

export class SharedBackend {
  readonly environment: Environment;
  readonly created = new CreatedSandboxes();
  readonly runs = new IsolatedRuns();
  readonly #local: LocalOptions | undefined;
  readonly #keepSandboxes: boolean;
  readonly #log: (line: string) => void;
  #backend: Promise<Backend> | undefined;
  /** What was logged last: each call tries to open the backend anew, and mostly fails for the same reason. */
  #logged = "";

  constructor({ environment, local, keepSandboxes = false, log }: SharedBackendOptions) {
    this.environment = environment;
    this.#local = local;
    this.#keepSandboxes = keepSandboxes;
    this.#log = log;
  }

  /** Opens the backend before the first call needs it. */
  warmUp(): void {
    // The call that needs it reports what is wrong, and tries again.
    this.open().catch(() => undefined);
  }

  /** After a failure, the next call tries again. */
  open(): Promise<Backend> {
    this.#backend ??= openBackend(this.#local).then(
      (backend) => {
        this.#logOnce(backend.description);
        return backend;
      },
      (error: unknown) => {
        this.#backend = undefined;
        this.#logOnce(`no backend: ${error instanceof Error ? error.message : "it could not be opened"}`);
        throw error;
      },
    );
    return this.#backend;
  }

  /** Deletes what one client has made; what cannot be deleted ends at its deadline. */
  async deleteSandboxesOf(client: Maker): Promise<void> {
    if (this.#keepSandboxes) return this.created.release(client);
    await this.#delete(this.created.take(client));
  }

  /** Leaves what a client has made to its deadline, but for what nobody else can call: that is deleted. */
  async forget(client: Maker): Promise<void> {
    const held = this.created.takeHeld(client);
    this.created.release(client);
    await this.#delete(held);
  }

  /** Deletes what any client has made, and closes the backend. */
  async close(): Promise<void> {
    const backend = await this.#backend?.catch(() => undefined);
    if (backend === undefined) return;
    if (!this.#keepSandboxes && !backend.endsItsSandboxes) await this.#delete(this.created.take());
    await backend.close();
  }

  async #delete(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    const { client } = await this.open();
    await Promise.allSettled(ids.map((id) => client.sandboxes.delete(id)));
  }

  #logOnce(line: string): void {
    if (line !== this.#logged) this.#log(line);
    this.#logged = line;
  }
}
