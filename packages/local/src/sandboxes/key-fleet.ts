import type { Problem } from "@cloud-sandbox/server-kit";
import {
  type Created,
  type CreateRequest,
  type Fleet,
  type SandboxUpdate,
  sandboxNotFound,
} from "@cloud-sandbox/server-kit/handlers";
import type { SandboxFleet } from "./sandbox-fleet.js";
import type { SandboxRecord } from "./sandbox-record.js";

/** The sandboxes that one API key sees: its own. To it, those of others do not exist. */
export class KeyFleet implements Fleet<SandboxRecord> {
  constructor(
    private readonly fleet: SandboxFleet,
    /** The server's own key, undefined, sees all sandboxes. */
    private readonly keyId: string | undefined,
  ) {}

  /** Whether the key may see the sandbox with this id, which may have ended. */
  sees(id: string): boolean {
    return this.keyId === undefined || this.fleet.isOf(this.keyId, id);
  }

  list(): readonly SandboxRecord[] {
    const { keyId } = this;
    return keyId === undefined
      ? this.fleet.list()
      : this.fleet.list().filter((sandbox) => sandbox.keyId === keyId);
  }

  has(id: string): boolean {
    return this.sees(id) && this.fleet.has(id);
  }

  /** The sandbox. Throws the 404 or 410 problem that says why there is none. */
  get(id: string): SandboxRecord {
    return this.#visible(id).get(id);
  }

  create(request: CreateRequest): Promise<SandboxRecord> {
    return this.fleet.create({ ...request, keyId: this.keyId });
  }

  getOrCreate(request: CreateRequest & { readonly name: string }): Promise<Created<SandboxRecord>> {
    return this.fleet.getOrCreate({ ...request, keyId: this.keyId });
  }

  async delete(id: string): Promise<void> {
    await this.#visible(id).delete(id);
  }

  async pause(id: string): Promise<SandboxRecord> {
    return this.#visible(id).pause(id);
  }

  async resume(id: string): Promise<SandboxRecord> {
    return this.#visible(id).resume(id);
  }

  async stop(id: string): Promise<SandboxRecord> {
    return this.#visible(id).stop(id);
  }

  async start(id: string): Promise<SandboxRecord> {
    return this.#visible(id).start(id);
  }

  async setTimeout(id: string, seconds: number): Promise<SandboxRecord> {
    return this.#visible(id).setTimeout(id, seconds);
  }

  async update(id: string, update: SandboxUpdate): Promise<SandboxRecord> {
    return this.#visible(id).update(id, update);
  }

  async fork(
    id: string,
    count: number,
    timeoutSeconds: number | undefined,
  ): Promise<readonly (SandboxRecord | Problem)[]> {
    const sandbox = this.get(id);
    return this.fleet.snapshots.fork(sandbox, count, timeoutSeconds);
  }

  async restore(id: string, snapshot: string): Promise<SandboxRecord> {
    return this.#visible(id).restoreTo(id, snapshot);
  }

  /** All sandboxes, if the key may see the one with this id; else throws the problem that it does not exist. */
  #visible(id: string): SandboxFleet {
    if (!this.sees(id)) throw sandboxNotFound(id);
    return this.fleet;
  }
}
