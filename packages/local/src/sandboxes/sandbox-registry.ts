import { type EndedSandbox, sandboxEnded, sandboxNotFound } from "@cloud-sandbox/server-kit/handlers";
import type { PendingWrites } from "../store/pending-writes.js";
import type { SandboxRepository, StoredSandbox } from "../store/sandbox-repository.js";
import type { SandboxRecord } from "./sandbox-record.js";

/** What may change of a sandbox. */
export type SandboxChange = Partial<
  Pick<SandboxRecord, "machine" | "status" | "timeoutSeconds" | "expiresAt" | "failureReason">
>;

/**
 * The sandboxes there are and those there were. What is wished for is in the store before it is true here, or is refused
 * with a 507 problem. What has happened already, such as an end, is true at once and in the store as soon as it can be.
 */
export class SandboxRegistry {
  readonly #sandboxes = new Map<string, SandboxRecord>();
  /** Ends that the store may not know yet. */
  readonly #ends = new Map<string, EndedSandbox>();

  constructor(
    private readonly repository: SandboxRepository,
    private readonly writes: PendingWrites,
  ) {}

  /** What a control plane before this one left behind. A sandbox whose deadline has passed is not among them. */
  restore(revive: (stored: StoredSandbox) => SandboxRecord): readonly SandboxRecord[] {
    for (const stored of this.repository.list()) {
      if (stored.expiresAt.getTime() <= Date.now()) this.#rememberEnd(stored, "expired");
      else this.add(revive(stored));
    }
    return this.list();
  }

  /** @throws a 507 problem when nothing new can be kept. */
  requireWritable(): void {
    this.writes.requireWritable();
  }

  /** The sandbox, or the problem that says why there is none. */
  get(id: string): SandboxRecord {
    const sandbox = this.#sandboxes.get(id);
    if (sandbox) return sandbox;
    const ended = this.#ends.get(id) ?? this.repository.findEnded(id);
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

  /** @throws a 507 problem when it cannot be kept; then there is no such sandbox. */
  add(sandbox: SandboxRecord): void {
    this.writes.require(sandbox.id, () => this.#write(sandbox));
    this.#sandboxes.set(sandbox.id, sandbox);
  }

  /** @throws a 507 problem when that cannot be kept; then nothing has changed. */
  change(sandbox: SandboxRecord, change: SandboxChange): void {
    try {
      this.writes.require(sandbox.id, () => this.#write({ ...sandbox, ...change }));
    } catch (error) {
      // Whatever of it may have got into the store.
      this.note(sandbox, {});
      throw error;
    }
    Object.assign(sandbox, change);
  }

  /** Takes down what has happened to the sandbox. */
  note(sandbox: SandboxRecord, change: SandboxChange): void {
    Object.assign(sandbox, change);
    this.writes.ensure(sandbox.id, () => this.#write(sandbox));
  }

  /** From now on it is gone for everybody who asks. */
  end(id: string, end: EndedSandbox["end"]): void {
    const sandbox = this.#sandboxes.get(id);
    if (!sandbox) return;
    this.#rememberEnd(sandbox, end);
    this.#sandboxes.delete(id);
  }

  #write(sandbox: SandboxRecord): void {
    const { machine: _, isStopping: __, status, ...rest } = sandbox;
    // What is being started is stopped still, should it end here.
    this.repository.save({ ...rest, status: status === "creating" ? "stopped" : status });
  }

  #rememberEnd(
    { id, createdAt, expiresAt }: Pick<SandboxRecord, "id" | "createdAt" | "expiresAt">,
    end: EndedSandbox["end"],
  ): void {
    const ended = { id, end, createdAt, expiresAt };
    this.#ends.set(id, ended);
    this.writes.ensure(id, () => {
      this.repository.end(ended);
      this.#ends.delete(id);
    });
  }
}
