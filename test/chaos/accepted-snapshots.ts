import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { call } from "./api.js";
import type { Entry } from "./ledger.js";
import type { Tally } from "./tally.js";

/** A snapshot, with what the user who took it knows of it. */
export interface TakenSnapshot {
  readonly id: string;
  /** The text that was in the sandbox's file. */
  readonly text: string;
  /** Whether a request to delete it was never answered. */
  perhapsDeleted: boolean;
  isBusy: boolean;
}

/** The snapshots that the server has acknowledged. After a restart each must be there, and what begins with one have its text. */
export class AcceptedSnapshots {
  readonly #snapshots = new Map<string, TakenSnapshot>();
  readonly #deleted = new Set<string>();

  constructor(private readonly tally: Tally) {}

  get free(): readonly TakenSnapshot[] {
    return [...this.#snapshots.values()].filter(({ isBusy, perhapsDeleted }) => !isBusy && !perhapsDeleted);
  }

  /** Takes a snapshot of a sandbox whose text is known. */
  async take(url: string, entry: Entry): Promise<void> {
    const text = entry.state === "stopped" ? entry.saved : entry.written;
    if (text === undefined) return;
    const answer = await this.tally.ask("snapshot", () =>
      call(url, "POST", `/v1/sandboxes/${entry.id}/snapshots`, {}),
    );
    if (!answer) return;
    const id = String(answer.body.id);
    this.#snapshots.set(id, { id, text, perhapsDeleted: false, isBusy: false });
  }

  async delete(url: string, snapshot: TakenSnapshot): Promise<void> {
    snapshot.perhapsDeleted = true;
    const answer = await this.tally.ask("snapshot delete", () =>
      call(url, "DELETE", `/v1/snapshots/${snapshot.id}`),
    );
    if (!answer) return;
    this.#snapshots.delete(snapshot.id);
    this.#deleted.add(snapshot.id);
  }

  /** Lists what is wrong about the snapshots after a restart. Then deletes those that were never acknowledged. */
  async contradictions(url: string): Promise<string[]> {
    const listed = await this.#listed(url);
    const wrong: string[] = [];
    for (const snapshot of [...this.#snapshots.values()]) {
      snapshot.isBusy = false;
      const isThere = listed.has(snapshot.id);
      if (!isThere && !snapshot.perhapsDeleted) wrong.push(`snapshot ${snapshot.id} is gone`);
      if (isThere) snapshot.perhapsDeleted = false;
      else this.#snapshots.delete(snapshot.id);
    }
    for (const id of listed) {
      if (this.#deleted.has(id)) wrong.push(`snapshot ${id} is there again; it was deleted`);
      if (!this.#snapshots.has(id)) await call(url, "DELETE", `/v1/snapshots/${id}`);
    }
    return wrong;
  }

  /** Files of no snapshot, as a kill in the middle of one may leave. */
  async abandonedFiles(dataDirectory: string): Promise<string[]> {
    const files = await readdir(join(dataDirectory, "snapshots")).catch(() => []);
    return files.filter((name) => !this.#snapshots.has(name)).map((name) => `snapshot: ${name}`);
  }

  async #listed(url: string): Promise<ReadonlySet<string>> {
    const { body } = await call(url, "GET", "/v1/snapshots");
    return new Set((body.data as { id: string }[]).map(({ id }) => id));
  }
}
