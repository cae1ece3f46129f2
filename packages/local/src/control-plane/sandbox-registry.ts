import { type EndedSandbox, sandboxEnded, sandboxNotFound } from "@cloud-sandbox/protocol/handlers";
import type { SandboxRepository, StoredSandbox } from "../store/sandbox-repository.js";
import type { SandboxRecord } from "./sandbox-record.js";

/** The sandboxes there are and those there were; what is told here is in the store when the call returns. */
export class SandboxRegistry {
  readonly #sandboxes = new Map<string, SandboxRecord>();

  constructor(private readonly repository: SandboxRepository) {}

  /** What a control plane before this one left behind. A sandbox whose deadline has passed is not among them. */
  restore(revive: (stored: StoredSandbox) => SandboxRecord): readonly SandboxRecord[] {
    for (const stored of this.repository.list()) {
      if (stored.expiresAt.getTime() <= Date.now()) this.#rememberEnd(stored, "expired");
      else this.save(revive(stored));
    }
    return this.list();
  }

  /** The sandbox, or the problem that says why there is none. */
  get(id: string): SandboxRecord {
    const sandbox = this.#sandboxes.get(id);
    if (sandbox) return sandbox;
    const ended = this.repository.findEnded(id);
    throw ended ? sandboxEnded(ended) : sandboxNotFound(id);
  }

  has(id: string): boolean {
    return this.#sandboxes.has(id);
  }

  list(): readonly SandboxRecord[] {
    return [...this.#sandboxes.values()];
  }

  findByName(name: string): SandboxRecord | undefined {
    return this.list().find((sandbox) => sandbox.name === name);
  }

  /** Adds the sandbox, or keeps what has changed of it. */
  save(sandbox: SandboxRecord): void {
    const { machine: _, isStopping: __, status, ...rest } = sandbox;
    // What is being started is stopped still, should it end here.
    this.repository.save({ ...rest, status: status === "creating" ? "stopped" : status });
    this.#sandboxes.set(sandbox.id, sandbox);
  }

  /** From now on it is gone for everybody who asks. */
  end(id: string, end: EndedSandbox["end"]): void {
    const sandbox = this.#sandboxes.get(id);
    if (!sandbox) return;
    this.#rememberEnd(sandbox, end);
    this.#sandboxes.delete(id);
  }

  #rememberEnd(
    { id, createdAt, expiresAt }: Pick<SandboxRecord, "id" | "createdAt" | "expiresAt">,
    end: EndedSandbox["end"],
  ): void {
    this.repository.end({ id, end, createdAt, expiresAt });
  }
}
