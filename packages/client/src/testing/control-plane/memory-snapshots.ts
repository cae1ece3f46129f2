import { type SnapshotFacts, snapshotNameTaken, snapshotNotFound } from "@cloud-sandbox/server-kit/handlers";
import type { MemoryFiles } from "../memory/memory-files.js";
import type { TestingClock } from "../memory/testing-clock.js";
import type { MemoryTemplate } from "./template-catalogue.js";

/** The files and variables of a sandbox as they were at one moment. */
export interface MemorySnapshot extends SnapshotFacts {
  readonly template: MemoryTemplate;
  readonly files: MemoryFiles | undefined;
  readonly environment: Readonly<Record<string, string>>;
}

/** All snapshots of a service. */
export class MemorySnapshots {
  readonly #all = new Map<string, MemorySnapshot>();

  constructor(private readonly clock: TestingClock) {}

  list(): readonly MemorySnapshot[] {
    return [...this.#all.values()];
  }

  get(idOrName: string): MemorySnapshot {
    const found = this.list().find(({ name }) => name === idOrName) ?? this.#all.get(idOrName);
    if (!found) throw snapshotNotFound(idOrName);
    return found;
  }

  add(snapshot: Omit<MemorySnapshot, "createdAt" | "id" | "isConsistent" | "sizeBytes">): MemorySnapshot {
    const { name, files } = snapshot;
    if (name !== undefined && this.list().some((other) => other.name === name)) throw snapshotNameTaken(name);
    const id = `snap_${globalThis.crypto.randomUUID().replaceAll("-", "").slice(0, 16)}`;
    const facts = { createdAt: this.clock.now(), isConsistent: true, sizeBytes: files?.totalBytes ?? 0 };
    const made = { ...snapshot, ...facts, id };
    this.#all.set(id, made);
    return made;
  }

  delete(idOrName: string): MemorySnapshot {
    const snapshot = this.get(idOrName);
    this.#all.delete(snapshot.id);
    return snapshot;
  }
}
