import type { BytePath } from "./byte-path.js";
import { type HostEntry, isDirectoryEntry } from "./host-manifest.js";
import type { Operation, OperationResult } from "./host-writer.js";
import { isVersionControl } from "./special-names.js";
import { type Change, longestPath, mostLevels } from "./tree-comparison.js";

/** A path that was accepted, below the copied directory. */
export interface Accepted {
  readonly path: BytePath;
  readonly digest?: string | undefined;
  /** What was reviewed. If given, the type, the digest and whether it is executable must be as they were, too. */
  readonly kind?: Change["kind"] | undefined;
  readonly type?: Change["type"] | undefined;
  readonly executable?: boolean | undefined;
  /** Whether it may be the version control's, or have some of it in it. */
  readonly control?: boolean | undefined;
}

type KnownEntries = ReadonlyMap<BytePath, HostEntry | undefined>;

const changedSinceReview = "it changed since the review";

/** What is to be done for accepted paths, in the order in which it is safe, and the outcomes that are known before. */
export function planApply(
  changes: readonly Change[],
  known: KnownEntries,
  accepted: readonly Accepted[] | undefined,
): { readonly operations: readonly Operation[]; readonly results: readonly OperationResult[] } {
  const byPath = new Map(changes.map((change) => [change.path, change]));
  const wanted = new Map<BytePath, Accepted>(
    (accepted ?? changes.map(({ path }) => ({ path }))).map((each) => [each.path, each]),
  );
  const planned: Operation[] = [];
  const results: OperationResult[] = [];
  for (const each of wanted.values()) {
    const one = plan(each, byPath, known);
    if ("status" in one) results.push(one);
    else planned.push(one);
  }
  const trees = withVersionControl(planned, known);
  const operations: Operation[] = [];
  for (const each of planned)
    if (trees.has(each.path) && wanted.get(each.path)?.control !== true)
      results.push(protectedTree(each.path));
    else operations.push(each);
  return { operations: operations.sort(inOrder), results };
}

function plan(
  accepted: Accepted,
  byPath: ReadonlyMap<BytePath, Change>,
  known: KnownEntries,
): Operation | OperationResult {
  const { path, control = false } = accepted;
  const change = byPath.get(path) ?? removedWith(path, byPath, known);
  const refused = (reason: string): OperationResult => ({ path, status: "refused", reason });
  if (!change) {
    if (!known.has(path)) return refused("there is no such change");
    const isThere = known.get(path) !== undefined;
    if (accepted.kind !== undefined && (accepted.kind === "removed") === isThere)
      return { path, status: "conflict", reason: changedSinceReview };
    return { path, status: "applied", note: "the directory has it already" };
  }
  if (isVersionControl(path) && !control)
    return refused("it belongs to the version control, and is written only if it is named with control");
  if (path.length > longestPath || path.split("/").length > mostLevels)
    return refused(`its path is longer than ${longestPath} bytes, or has more than ${mostLevels} levels`);
  if (!isAsReviewed(accepted, change)) return { path, status: "conflict", reason: changedSinceReview };
  if (change.kind === "removed") {
    const type = change.type === "directory" ? "directory" : "file";
    return { path, kind: "removed", type };
  }
  const { kind, type, executable, target } = change;
  if (type === "other") return refused("devices, sockets and pipes are not written");
  if (type === "directory") return { path, kind, type };
  if (change.digest === undefined)
    return refused("its content is too large, or could not be read without a change");
  const { digest } = change;
  if (type === "link") return { path, kind, type, digest, ...(target !== undefined && { target }) };
  return { path, kind, type, digest, ...(executable !== undefined && { executable }) };
}

/** Whether a change is the one that was reviewed, as far as the caller says what that was. */
function isAsReviewed(accepted: Accepted, change: Change): boolean {
  if (accepted.kind === undefined)
    return (["type", "executable", "digest"] as const).every(
      (fact) => accepted[fact] === undefined || accepted[fact] === change[fact],
    );
  // A fact that is absent was absent in the review: content that could not be read then was not accepted.
  return (["kind", "type", "executable", "digest"] as const).every((fact) => accepted[fact] === change[fact]);
}

/** The directories that would be removed or replaced, and had something of the version control in them at the mount. */
function withVersionControl(operations: readonly Operation[], known: KnownEntries): ReadonlySet<BytePath> {
  const trees = treesOf(
    operations.filter(({ kind, type }) => kind === "removed" || type !== "directory"),
    known,
  );
  const found = new Set<BytePath>();
  if (trees.size === 0) return found;
  for (const [path, entry] of known)
    if (entry && isBelow(path, trees) && isVersionControl(path.slice(path.lastIndexOf("/") + 1)))
      for (const end of endsOfParents(path)) found.add(path.slice(0, end));
  return found;
}

const protectedTree = (path: BytePath): OperationResult => ({
  path,
  status: "refused",
  reason:
    "the directory has parts of the version control in it, and is removed or replaced only if it is named with control",
});

/** The removal of an entry whose directory was removed, or replaced by something else. */
function removedWith(
  path: BytePath,
  byPath: ReadonlyMap<BytePath, Change>,
  known: KnownEntries,
): Change | undefined {
  const entry = known.get(path);
  if (!entry) return undefined;
  for (const end of endsOfParents(path)) {
    const above = byPath.get(path.slice(0, end));
    if (above?.kind === "removed" && above.type === "directory")
      return { path, kind: "removed", type: isDirectoryEntry(entry) ? "directory" : "file" };
  }
  return undefined;
}

/** Directories first, then files and links, and removals last, what is deep before what it is in. */
function inOrder(one: Operation, other: Operation): number {
  const step = stepOf(one) - stepOf(other);
  if (step !== 0) return step;
  if (one.path === other.path) return 0;
  return one.path < other.path === (one.kind !== "removed") ? -1 : 1;
}

function stepOf({ kind, type }: Operation): number {
  if (kind === "removed") return 3;
  return { directory: 0, file: 1, link: 2 }[type];
}

/** The records that the operations need: of their paths, and of all below a directory that goes. */
export function neededPaths(
  operations: readonly Operation[],
  known: KnownEntries,
): ReadonlyMap<BytePath, HostEntry | undefined> {
  const paths = new Set(operations.map(({ path }) => path));
  const trees = treesOf(operations, known);
  const needed = new Map<BytePath, HostEntry | undefined>();
  for (const [path, entry] of known) if (paths.has(path) || isBelow(path, trees)) needed.set(path, entry);
  return needed;
}

/** Those of the paths that were directories at the mount. */
function treesOf(operations: readonly Operation[], known: KnownEntries): ReadonlySet<BytePath> {
  const isTree = ({ path }: Operation): boolean => {
    const entry = known.get(path);
    return entry !== undefined && isDirectoryEntry(entry);
  };
  return new Set(operations.filter(isTree).map(({ path }) => path));
}

function isBelow(path: BytePath, trees: ReadonlySet<BytePath>): boolean {
  if (trees.size === 0) return false;
  for (const end of endsOfParents(path)) if (trees.has(path.slice(0, end))) return true;
  return false;
}

/** Where the paths of the directories that a path is in end, the closest first. */
function* endsOfParents(path: BytePath): Generator<number> {
  for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) yield end;
}
