import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Accepted, neededPaths, planApply } from "../../src/changes/apply-plan.js";
import { bytePathOf, textOf } from "../../src/changes/byte-path.js";
import { ContentReader, sendContent } from "../../src/changes/content-stream.js";
import { type HostEntry, readManifest, writeManifest } from "../../src/changes/host-manifest.js";
import { HostWriter, hasContent, type OperationResult } from "../../src/changes/host-writer.js";
import { OpenDirectory } from "../../src/changes/open-directory.js";
import { type Change, TreeComparison } from "../../src/changes/tree-comparison.js";

/** A directory of the host and what a sandbox made of its copy, without the overlay: two plain directories. */
export class CopiedTree implements Disposable {
  readonly #place = mkdtempSync(join(tmpdir(), "copied-tree-"));
  readonly host = join(this.#place, "host");
  readonly sandbox = join(this.#place, "sandbox");
  #known: Map<string, HostEntry | undefined> = new Map();

  constructor() {
    for (const path of [this.host, this.sandbox]) mkdirSync(path);
  }

  /** Remembers what is in the host's directory, as when a sandbox gets a copy. */
  mount(): void {
    let records = "";
    const root = OpenDirectory.open(bytePathOf(this.host));
    writeManifest(root, (record) => {
      records += record;
    });
    root.close();
    this.#known = readManifest(records);
  }

  changes(): Change[] {
    const [merged, lower] = [bytePathOf(this.sandbox), bytePathOf(this.host)];
    return [...new TreeComparison({ merged, upper: merged, lower }).changes()];
  }

  /** Kinds and types of the changes, by path. */
  seen(): Record<string, string> {
    return Object.fromEntries(
      this.changes().map(({ path, kind, type }) => [textOf(path), `${kind} ${type}`]),
    );
  }

  /** The outcome of each path, with its reason or note. `changes`: those of the review; by default, as they are now. */
  apply(
    accepted?: readonly (Accepted | string)[],
    options: {
      changes?: readonly Change[];
      check?: boolean;
      onResult?: (result: OperationResult) => void;
    } = {},
  ): Record<string, string> {
    const { check = false } = options;
    const wanted = accepted?.map((each) => (typeof each === "string" ? { path: bytePathOf(each) } : each));
    const { operations, results } = planApply(options.changes ?? this.changes(), this.#known, wanted);
    const contents = join(this.#place, "contents");
    const sent = openSync(contents, "w");
    if (!check)
      for (const { path } of operations.filter(hasContent)) sendContent(bytePathOf(this.sandbox), path, sent);
    closeSync(sent);
    const received = openSync(contents, "r");
    const known = new Map(neededPaths(operations, this.#known));
    const note = (path: string, entry: HostEntry | undefined): void => {
      for (const map of [known, this.#known]) map.set(path, entry);
    };
    const root = OpenDirectory.open(bytePathOf(this.host));
    const all = [...results];
    try {
      const entries = { get: (path: string) => known.get(path), note };
      const writer = new HostWriter(root, entries, check, (result) => {
        options.onResult?.(result);
        all.push(result);
      });
      writer.apply(operations, new ContentReader(received));
    } finally {
      root.close();
      closeSync(received);
    }
    return Object.fromEntries(
      all.map(({ path, status, reason, note: told }) => [
        textOf(path),
        [status, reason ?? told].filter(Boolean).join(": "),
      ]),
    );
  }

  [Symbol.dispose](): void {
    rmSync(this.#place, { recursive: true, force: true });
  }
}
