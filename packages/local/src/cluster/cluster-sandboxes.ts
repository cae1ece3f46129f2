import type { NewEvent } from "@cloud-sandbox/server-kit/handlers";
import type { V1ConfigMap } from "@kubernetes/client-node";
import { InvalidRecordsError } from "../errors/local-errors.js";
import { statusOf } from "../runtime/kubernetes/cluster.js";
import { ownLabel } from "../runtime/kubernetes/pod.js";
import type { EventLog } from "../store/event-log.js";
import type { PendingWrites } from "../store/pending-writes.js";
import {
  requireSound,
  type SandboxRepository,
  type StoredEnd,
  type StoredSandbox,
} from "../store/sandbox-repository.js";
import type { ClusterApi } from "./cluster-api.js";
import type { Term } from "./lease.js";
import { notSaved, whileHeld } from "./not-saved.js";

/** Says what a ConfigMap records: a sandbox, or the end of one. */
const label = "cloud-sandbox.dev/record";
type Kind = "sandbox" | "ended";

/**
 * The format of records. A release that writes a record which earlier ones would misunderstand raises it: they do not lead then. A field
 * more is no new format: an earlier release leaves it as it is.
 */
const format = 1;

/** How many ended sandboxes are remembered. */
const rememberedEnds = 1000;
/** How often a write is tried whose object somebody else changes meanwhile. */
const mostTries = 3;

export interface ClusterSandboxesParts {
  readonly cluster: ClusterApi;
  /** The term in which the records are read and written. */
  readonly term: Term;
  readonly writes: PendingWrites;
  readonly events: EventLog;
  readonly log: (message: string) => void;
}

/** The sandboxes as ConfigMaps, one each. The server that leads is the only one that writes them. */
export class ClusterSandboxes implements SandboxRepository {
  readonly mustRecordDeletes = true;
  /** The versions of the objects: a late write of an earlier leader must not replace a newer one. */
  readonly #versions = new Map<string, string | undefined>();
  readonly #ended = new Map<string, StoredEnd>();
  /** The records of sandboxes as they were read, with fields of other releases. */
  readonly #read = new Map<string, object>();
  #isClosed = false;

  constructor(private readonly parts: ClusterSandboxesParts) {}

  async save(sandbox: StoredSandbox, events: readonly NewEvent[] = []): Promise<void> {
    const isNew = !this.#versions.has(sandbox.id);
    try {
      await this.#write(sandbox.id, "sandbox", sandbox);
      this.parts.events.record(events);
    } catch (error) {
      // The API server may have made the object all the same.
      if (isNew) this.parts.writes.ensure(`no ${sandbox.id}`, () => this.#remove(sandbox.id));
      throw error;
    }
  }

  /** The sandboxes. A record that cannot be read is left out, because one must not keep all others from being served. */
  async list(): Promise<readonly StoredSandbox[]> {
    const { cluster, log } = this.parts;
    const { core, namespace } = cluster;
    const { items } = await core.listNamespacedConfigMap({ namespace, labelSelector: label });
    const sandboxes: StoredSandbox[] = [];
    const ended: StoredEnd[] = [];
    for (const { metadata, data } of items) {
      if (Number(data?.format ?? format) > format) throw newerRecords(metadata?.name);
      try {
        const record = parse(data?.record ?? "");
        if (metadata?.labels?.[label] === ("ended" satisfies Kind)) ended.push(record as StoredEnd);
        else {
          sandboxes.push(requireSound(record as StoredSandbox));
          this.#read.set(record.id, record);
        }
        this.#versions.set(record.id, metadata?.resourceVersion);
      } catch (error) {
        log(`The record in the ConfigMap ${metadata?.name} is damaged, and is left out: ${String(error)}`);
      }
    }
    for (const end of ended.sort(byDeadline)) this.#ended.set(end.id, end);
    return sandboxes;
  }

  async end(ended: StoredEnd, events: readonly NewEvent[] = []): Promise<void> {
    await this.#write(ended.id, "ended", ended);
    this.parts.events.record(events);
    this.#ended.set(ended.id, ended);
    this.#read.delete(ended.id);
    for (const id of [...this.#ended.keys()].slice(0, -rememberedEnds)) {
      this.#ended.delete(id);
      this.parts.writes.ensure(id, () => this.#remove(id));
    }
  }

  findEnded(id: string): StoredEnd | undefined {
    return this.#ended.get(id);
  }

  /** Refuses further changes: the next server that leads may have read the records. */
  close(): void {
    this.#isClosed = true;
  }

  async #write(id: string, kind: Kind, record: StoredSandbox | StoredEnd): Promise<void> {
    const { term } = this.parts;
    if (this.#isClosed) throw notSaved("this server ends");
    for (let tries = 1; ; tries += 1) {
      const written = await whileHeld(term, () => this.#put(id, kind, record));
      if (written) return void this.#versions.set(id, written.metadata?.resourceVersion);
      if (tries === mostTries) throw new Error(`The record of sandbox ${id} is changed by somebody else.`);
      await whileHeld(term, () => this.#look(id));
    }
  }

  /** The object as it was written. Undefined if it is not as this server knows it. */
  async #put(id: string, kind: Kind, record: StoredSandbox | StoredEnd): Promise<V1ConfigMap | undefined> {
    const { core, namespace } = this.parts.cluster;
    const name = nameOf(id);
    const resourceVersion = this.#versions.get(id);
    const body: V1ConfigMap = {
      metadata: {
        name,
        labels: { ...ownLabel, [label]: kind },
        ...(resourceVersion !== undefined && { resourceVersion }),
      },
      data: {
        record: JSON.stringify(kind === "sandbox" ? { ...this.#read.get(id), ...record } : record),
        format: String(format),
      },
    };
    try {
      return await (resourceVersion === undefined
        ? core.createNamespacedConfigMap({ namespace, body })
        : core.replaceNamespacedConfigMap({ namespace, name, body }));
    } catch (error) {
      if (statusOf(error) === 409 || statusOf(error) === 404) return undefined;
      throw error;
    }
  }

  /** Learns the version of an object that was changed or removed by hand, or by a request whose answer was lost. */
  async #look(id: string): Promise<void> {
    const { core, namespace } = this.parts.cluster;
    const found = await core
      .readNamespacedConfigMap({ namespace, name: nameOf(id) })
      .catch((error: unknown) => {
        if (statusOf(error) !== 404) throw error;
      });
    this.#versions.set(id, found?.metadata?.resourceVersion);
  }

  async #remove(id: string): Promise<void> {
    const { cluster, term } = this.parts;
    const { core, namespace } = cluster;
    await whileHeld(term, async () => {
      await core.deleteNamespacedConfigMap({ namespace, name: nameOf(id) }).catch((error: unknown) => {
        if (statusOf(error) !== 404) throw error;
      });
    });
    this.#versions.delete(id);
  }
}

const nameOf = (id: string): string => `cloud-sandbox-${id}`;

const newerRecords = (name: string | undefined): Error =>
  new InvalidRecordsError(
    `A newer release has written the record in the ConfigMap ${name}, and this one does not understand it. Update this server.`,
  );

const byDeadline = (one: StoredEnd, other: StoredEnd): number =>
  one.expiresAt.getTime() - other.expiresAt.getTime();

function parse(text: string): StoredSandbox | StoredEnd {
  const record = JSON.parse(text);
  const { linksRevokedAt } = record;
  return {
    ...record,
    createdAt: new Date(record.createdAt),
    expiresAt: new Date(record.expiresAt),
    ...(linksRevokedAt && { linksRevokedAt: new Date(linksRevokedAt) }),
  };
}
