import { type NewEvent, sandboxEnded, sandboxNotFound } from "@cloud-sandbox/server-kit/handlers";
import type { EgressTelling } from "../egress/sandbox-egress.js";
import { Secret } from "../egress/secrets/secret.js";
import { SecretValue } from "../egress/secrets/secret-value.js";
import type { StoredSecrets } from "../egress/secrets/stored-secrets.js";
import type { EventLog } from "../store/event-log.js";
import type { PendingWrites } from "../store/pending-writes.js";
import type {
  SandboxRepository,
  StoredEnd,
  StoredSandbox,
  StoredSecret,
} from "../store/sandbox-repository.js";
import type { Sealer } from "../store/sealer.js";
import type { VolumeUser } from "../volumes/volumes.js";
import { createdEvent, endEvent, sandboxEvent, statusEvents } from "./sandbox-events.js";
import type { SandboxRecord } from "./sandbox-record.js";

/** The fields of a sandbox that may change. */
export type SandboxChange = Partial<
  Pick<
    SandboxRecord,
    | "authority"
    | "machine"
    | "restores"
    | "status"
    | "egress"
    | "secrets"
    | "timeoutSeconds"
    | "expiresAt"
    | "failureReason"
    | "metadata"
    | "sleep"
    | "stopReason"
    | "linksRevokedAt"
  >
>;

/**
 * All sandboxes, existing and ended. A requested change is saved first and then applied, or refused with a 507 problem.
 * An event that already happened, such as an end, is applied at once and saved as soon as the store can be written to.
 */
export class SandboxRegistry {
  readonly #sandboxes = new Map<string, SandboxRecord>();
  /** Ended sandboxes whose end may not be saved yet. */
  readonly #ends = new Map<string, StoredEnd>();
  /** Events of changes that have happened and may not be saved yet, by sandbox. */
  readonly #events = new Map<string, readonly NewEvent[]>();

  constructor(
    private readonly repository: SandboxRepository,
    private readonly writes: PendingWrites,
    private readonly events: Pick<EventLog, "append">,
    /** Seals the values of secrets. Undefined if they are not kept. */
    private readonly sealer?: Sealer,
    private readonly stored?: StoredSecrets,
  ) {}

  /** Loads the sandboxes of the previous control plane. Those whose deadline has passed are recorded as expired. */
  async restore(revive: (stored: StoredSandbox) => SandboxRecord): Promise<readonly SandboxRecord[]> {
    for (const stored of await this.repository.list()) {
      // One that still runs is not deleted at its deadline if its settings let it sleep then.
      const mayRun = stored.status === "running" && stored.sleep && stored.sleep.onTimeout !== "delete";
      if (stored.expiresAt.getTime() <= Date.now() && !mayRun) this.#rememberEnd(stored, "expired");
      else this.#sandboxes.set(stored.id, revive(stored));
    }
    if (this.sealer?.hasOlderKeys)
      for (const sandbox of this.list()) if (sandbox.secrets) this.note(sandbox, {});
    return this.list();
  }

  /** Rejects with a 507 problem when the store cannot be written to. */
  requireWritable(): Promise<void> {
    return this.writes.requireWritable();
  }

  /** The sandbox. Throws the 404 or 410 problem that says why there is none. */
  get(id: string): SandboxRecord {
    const sandbox = this.#sandboxes.get(id);
    if (sandbox) return sandbox;
    const ended = this.#ended(id);
    throw ended ? sandboxEnded(ended) : sandboxNotFound(id);
  }

  /** Whether the API key created a sandbox with this id, which may have ended. */
  isOf(keyId: string, id: string): boolean {
    return this.keyOf(id) === keyId;
  }

  /** The API key of a sandbox, which may have ended. Undefined for the server's own key, and for an unknown sandbox. */
  keyOf(id: string): string | undefined {
    return (this.#sandboxes.get(id) ?? this.#ended(id))?.keyId;
  }

  has(id: string): boolean {
    return this.#sandboxes.has(id);
  }

  get size(): number {
    return this.#sandboxes.size;
  }

  /** The number of sandboxes of an API key. */
  countOf(keyId: string): number {
    let count = 0;
    for (const sandbox of this.#sandboxes.values()) if (sandbox.keyId === keyId) count += 1;
    return count;
  }

  /** The number of stopped sandboxes of an API key, or of the server's own key, undefined. */
  countStopped(ofKey: string | undefined): number {
    let count = 0;
    for (const { status, isStopping, keyId } of this.#sandboxes.values())
      if ((status === "stopped" || isStopping) && keyId === ofKey) count += 1;
    return count;
  }

  /** The number of sandboxes that are not stopped, of all API keys or of one. */
  countAwake(ofKey?: string): number {
    let count = 0;
    for (const { status, keyId } of this.#sandboxes.values())
      if (status !== "stopped" && (ofKey === undefined || keyId === ofKey)) count += 1;
    return count;
  }

  /** The number of sandboxes that have failed, of all API keys or of one. */
  countFailed(ofKey?: string): number {
    let count = 0;
    for (const { status, keyId } of this.#sandboxes.values())
      if (status === "error" && (ofKey === undefined || keyId === ofKey)) count += 1;
    return count;
  }

  list(): readonly SandboxRecord[] {
    return [...this.#sandboxes.values()];
  }

  /** The sandbox of this name. Each API key has its own names. */
  findByName(name: string, keyId: string | undefined): SandboxRecord | undefined {
    return this.list().find((sandbox) => sandbox.name === name && sandbox.keyId === keyId);
  }

  /** The sandboxes that mount a volume. */
  usersOf(volumeId: string): VolumeUser[] {
    const users = this.list().filter(({ mounted }) => mounted.some((mount) => mount.volumeId === volumeId));
    return users.map(({ name, id, keyId }) => ({ title: name ?? id, keyId }));
  }

  /** Rejects with a 507 problem when the sandbox cannot be saved; it is not added then. */
  async add(sandbox: SandboxRecord): Promise<void> {
    await this.writes.save(sandbox.id, () => this.#write(sandbox, [createdEvent(sandbox)]));
    this.#sandboxes.set(sandbox.id, sandbox);
  }

  /**
   * Rejects with a 507 problem when the change cannot be saved, or with the problem that the sandbox has ended; nothing has
   * changed then. Changes of one sandbox are made one after another.
   */
  async change(sandbox: SandboxRecord, change: SandboxChange): Promise<void> {
    try {
      await this.writes.save(sandbox.id, async () => {
        // If the sandbox ended before its turn, a record that is written now would bring it back.
        if (!this.has(sandbox.id)) return;
        const wasFailed = sandbox.status === "error";
        await this.#write({ ...sandbox, ...change }, statusEvents(sandbox, change));
        const hasFailed = !wasFailed && sandbox.status === "error";
        // A failure that was noted while the change was saved is the newer one.
        const { status, failureReason } = sandbox;
        Object.assign(sandbox, change, hasFailed && { status, failureReason });
      });
    } catch (error) {
      // A failed write may still have reached the store: write the old values again.
      if (this.has(sandbox.id)) this.note(sandbox, {});
      throw error;
    }
    this.get(sandbox.id);
  }

  /** Applies an event that already happened to the sandbox, and saves it as soon as possible. */
  note(sandbox: SandboxRecord, change: SandboxChange): void {
    this.#happened(sandbox.id, statusEvents(sandbox, change));
    Object.assign(sandbox, change);
    this.writes.ensure(sandbox.id, () => this.#write(sandbox));
  }

  /** Records what the egress of a sandbox tells. It concerns no caller while the machine waits for an owner. */
  tell(id: string, { type, ...facts }: EgressTelling): void {
    const sandbox = this.#sandboxes.get(id);
    if (sandbox) this.events.append(sandboxEvent(sandbox, type, facts));
  }

  /**
   * Removes the sandbox. After that {@link get} throws the problem that it was deleted or has expired. Rejects if it was deleted
   * in a store that must record that first, and cannot; nothing has changed then.
   */
  async end(id: string, end: StoredEnd["end"]): Promise<void> {
    const sandbox = this.#sandboxes.get(id);
    if (!sandbox) return;
    if (end === "deleted" && this.repository.mustRecordDeletes) return this.#delete(sandbox);
    this.#rememberEnd(sandbox, end);
    this.#sandboxes.delete(id);
  }

  async #delete(sandbox: SandboxRecord): Promise<void> {
    const { id } = sandbox;
    try {
      await this.writes.save(id, async () => {
        if (!this.has(id)) return;
        await this.repository.end(endOf(sandbox, "deleted"), [endEvent(sandbox, "deleted")]);
        this.#sandboxes.delete(id);
      });
    } catch (error) {
      // The end may still have reached the store: write the sandbox again.
      if (this.has(id)) this.note(sandbox, {});
      throw error;
    }
  }

  async #write(sandbox: SandboxRecord, events: readonly NewEvent[] = []): Promise<void> {
    const { machine: _, isStopping: __, status, secrets, ...rest } = sandbox;
    const earlier = this.#events.get(sandbox.id) ?? [];
    await this.repository.save(
      {
        ...rest,
        // Save a sandbox that is being started as stopped: it can be started again if this process is killed now.
        status: status === "creating" ? "stopped" : status,
        secrets: secrets?.map((secret) => this.#sealed(sandbox.id, secret)),
      },
      [...earlier, ...events],
    );
    this.#saved(sandbox.id, earlier);
  }

  /** Notes events of a change that is applied already, until they are saved with it. */
  #happened(id: string, events: readonly NewEvent[]): void {
    if (events.length > 0) this.#events.set(id, [...(this.#events.get(id) ?? []), ...events]);
  }

  #saved(id: string, events: readonly NewEvent[]): void {
    const left = this.#events.get(id)?.slice(events.length) ?? [];
    if (left.length > 0) this.#events.set(id, left);
    else this.#events.delete(id);
  }

  #sealed(id: string, secret: Secret): StoredSecret {
    const { value, from } = secret;
    const facts = { ...secret };
    return value === undefined || from !== undefined || !this.sealer
      ? facts
      : { ...facts, sealed: this.sealer.seal(value, aboutSecret(id, secret)) };
  }

  /** The secrets of a stored sandbox. Those whose value was not kept, or was sealed with another key, are lost. */
  secretsOf({ id, keyId, secrets }: StoredSandbox): readonly Secret[] | undefined {
    return secrets?.map(({ sealed, valueId = "", ...facts }) => {
      if (facts.from !== undefined) {
        const value = this.stored?.find(facts.from, keyId)?.value;
        return new Secret(facts, value?.id === valueId ? value : undefined);
      }
      const value = sealed === undefined ? undefined : this.sealer?.open(sealed, aboutSecret(id, facts));
      return new Secret(facts, value === undefined ? undefined : new SecretValue(value));
    });
  }

  #ended(id: string): StoredEnd | undefined {
    return this.#ends.get(id) ?? this.repository.findEnded(id);
  }

  #rememberEnd(sandbox: Ending, end: StoredEnd["end"]): void {
    const { id } = sandbox;
    const ended = endOf(sandbox, end);
    this.#ends.set(id, ended);
    this.#happened(id, [endEvent(sandbox, end)]);
    this.writes.ensure(id, async () => {
      const events = this.#events.get(id) ?? [];
      await this.repository.end(ended, events);
      this.#saved(id, events);
      this.#ends.delete(id);
    });
  }
}

const aboutSecret = (id: string, { name }: { readonly name: string }): string => `secret ${id} ${name}`;

type Ending = Pick<SandboxRecord, "id" | "createdAt" | "expiresAt" | "keyId" | "name">;

const endOf = ({ id, createdAt, expiresAt, keyId }: Ending, end: StoredEnd["end"]): StoredEnd => ({
  id,
  end,
  createdAt,
  expiresAt,
  keyId,
});
