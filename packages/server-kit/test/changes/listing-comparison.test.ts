import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import {
  compareListings,
  type FileChange,
  isVersionControl,
  type ListedEntry,
  type ListedFiles,
  UnequalListingsError,
} from "../../src/changes/index.js";

/** Files by path: a text is a file, a list has what else there is of the entry, `{}` is a directory. */
type Tree = Readonly<Record<string, string | Partial<ListedEntry>>>;

class Side implements ListedFiles {
  readonly asked: string[] = [];
  isClosed = false;

  constructor(private readonly tree: Tree) {}

  get entries(): AsyncIterable<readonly ListedEntry[]> {
    return this.#list();
  }

  /** Two at a time, after none. */
  async *#list(): AsyncGenerator<readonly ListedEntry[]> {
    const entries = Object.entries(this.tree).map(
      ([path, entry]): ListedEntry =>
        typeof entry === "string"
          ? { path, type: "file", size: entry.length, executable: false, modified: "1" }
          : { path, type: "directory", ...entry },
    );
    try {
      yield [];
      for (let index = 0; index < entries.length; index += 2) yield entries.slice(index, index + 2);
    } finally {
      this.isClosed = true;
    }
  }

  async digests(paths: readonly string[]): Promise<ReadonlyMap<string, string>> {
    this.asked.push(...paths);
    return new Map(paths.map((path) => [path, digestOf(this.#contentOf(path))]));
  }

  #contentOf(path: string): string {
    const entry = this.tree[path] ?? "";
    return typeof entry === "string" ? entry : (entry.target ?? entry.path ?? "");
  }
}

const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex");
/** A file that was written later. Its content is told by `path`, which the listing has anyway. */
const file = (size: number, modified: string, executable = false): Partial<ListedEntry> => ({
  ...{ type: "file", size, modified, executable },
});

async function compared(before: Side, now: Side, onChange: (change: FileChange) => void = () => undefined) {
  return compareListings({ before, now, isVersionControl, onChange });
}

const seen = async (before: Tree, now: Tree): Promise<string[]> =>
  (await compared(new Side(before), new Side(now))).map(({ kind, type, path }) => `${kind} ${type} ${path}`);

describe("a comparison of two listings", () => {
  test("finds what was added, changed and removed, in the order of paths", async () => {
    const before = { "/a": "one", "/b": "two", "/d": {}, "/d/x": "x", "/e": "same" };
    const now = { "/a": "three", "/c": "new", "/d": {}, "/d/y": "y", "/e": "same" };
    expect(await seen(before, now)).toEqual([
      "changed file /a",
      "removed file /b",
      "added file /c",
      "removed file /d/x",
      "added file /d/y",
    ]);
  });

  test("reads content only where the size is the same and the time is not", async () => {
    const [before, now] = [
      new Side({ "/moved-time": file(3, "1"), "/same": file(3, "1"), "/size": file(3, "1") }),
      new Side({ "/moved-time": file(3, "2"), "/same": file(3, "1"), "/size": file(4, "2") }),
    ];
    expect(await compared(before, now)).toEqual([
      { path: "/size", kind: "changed", type: "file", size: 4, executable: false, digest: digestOf("") },
    ]);
    expect([before.asked, now.asked]).toEqual([["/moved-time"], ["/moved-time", "/size"]]);
  });

  test.each([
    ["at the same time", "1", "one"],
    ["later", "2", "one"],
  ])("tells a file that became executable %s by its mode", async (_, modified) => {
    const [change] = await compared(
      new Side({ "/a": file(3, "1") }),
      new Side({ "/a": file(3, modified, true) }),
    );
    expect(change).toMatchObject({ kind: "mode", executable: true, digest: digestOf("") });
  });

  test("counts what was in a directory that is none any more", async () => {
    const before = {
      "/a": {},
      "/a/.git": {},
      "/a/.git/x": "x",
      "/a/b": "b",
      "/a-b": "x",
      "/l": {},
      "/l/x": "x",
    };
    const now = { "/a-b": "x", "/l": { type: "link", target: "t" } as const };
    expect(await compared(new Side(before), new Side(now))).toEqual([
      { path: "/a", kind: "removed", type: "directory", entries: 3, hasVersionControl: true },
      { path: "/l", kind: "changed", type: "link", target: "t", digest: digestOf("t"), entries: 1 },
    ]);
  });

  test("compares links by their targets, and other entries by their type", async () => {
    const link = (target: string) => ({ type: "link", target }) as const;
    const before = {
      "/a": link("x"),
      "/b": link("x"),
      "/c": { type: "other" },
      "/d": "file",
      "/e": "x",
    } as const;
    const now = {
      "/a": link("x"),
      "/b": link("y"),
      "/c": { type: "other" },
      "/d": { type: "other" },
      "/e": {},
    } as const;
    expect(await seen(before, now)).toEqual(["changed link /b", "changed other /d", "changed directory /e"]);
  });

  test("leaves out what is mounted on a side, with all at its place, and the directories that were made for it", async () => {
    const mount = { type: "mount" } as const;
    const before = { "/data": {}, "/data/x": "x", "/etc": {}, "/etc/hosts": mount, "/kept": "x" };
    const now = {
      "/data": mount,
      "/etc": {},
      "/etc/hosts": "x",
      "/kept": "x",
      "/made": {},
      "/made/for": {},
      "/made/for/it": mount,
    };
    expect(await seen(before, now)).toEqual([]);
  });

  test("tells how many entries of a directory are not listed", async () => {
    const [change] = await compared(new Side({ "/a": {} }), new Side({ "/a": { skipped: 2 } }));
    expect(change).toEqual({ path: "/a", kind: "changed", type: "directory", skipped: 2 });
  });

  test("knows that an untouched directory is the same on both sides, and refuses one that is not", async () => {
    const untouched = { untouched: true };
    expect(await seen({ "/a": untouched, "/b": "x" }, { "/a": untouched })).toEqual(["removed file /b"]);
    for (const now of [{ "/a": {}, "/a/x": "x" }, {}] as Tree[])
      await expect(seen({ "/a": untouched }, now)).rejects.toThrow(UnequalListingsError);
  });

  test("counts files as changed whose content is too much to read", async () => {
    const large = 300 * 1024 * 1024;
    const [before, now] = [new Side({ "/a": file(large, "1") }), new Side({ "/a": file(large, "2") })];
    expect(await compared(before, now)).toEqual([
      { path: "/a", kind: "changed", type: "file", size: large, executable: false },
    ]);
    expect([before.asked, now.asked]).toEqual([[], []]);
  });

  test.each([
    ["goes back", { "/b": "x", "/a": "x" }],
    ["names a directory after what is in it", { "/a/x": "x", "/a": {} }],
  ])("refuses a listing that %s, and closes both", async (_, listing: Tree) => {
    const [before, now] = [new Side({ "/a": "x", "/z": "x" }), new Side(listing)];
    await expect(compared(before, now)).rejects.toThrow("order");
    expect([before.isClosed, now.isClosed]).toEqual([true, true]);
  });

  test("ends when a change is refused, and closes both listings", async () => {
    const [before, now] = [new Side({}), new Side({ "/a": {}, "/b": {}, "/c": {} })];
    let count = 0;
    const onChange = (): void => {
      count += 1;
      if (count === 2) throw new Error("too many");
    };
    await expect(compared(before, now, onChange)).rejects.toThrow("too many");
    expect(now.isClosed).toBe(true);
  });
});
