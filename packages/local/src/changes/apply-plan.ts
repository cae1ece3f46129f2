import type { BytePath } from "./byte-path.js";
import { type HostEntry, isDirectoryEntry } from "./host-manifest.js";
import type { Operation, OperationResult } from "./host-writer.js";
import { isVersionControl } from "./special-names.js";
import { type Change, mostLevels } from "./tree-comparison.js";

/** A path that was accepted, below the copied directory. */
export interface Accepted {
  readonly path: BytePath;
  readonly digest?: string | undefined;
  /** Whether it may be the version control's. */
  readonly control?: boolean | undefined;
}

type KnownEntries = ReadonlyMap<BytePath, HostEntry | undefined>;

const longestPath = 4096;

/** What is to be done for accepted paths, in the order in which it is safe, and the outcomes that are known before. */
export function planApply(
  changes: readonly Change[],
  known: KnownEntries,
  accepted: readonly Accepted[] | undefined,
): { readonly operations: readonly Operation[]; readonly results: readonly OperationResult[] } {
  const byPath = new Map(changes.map((change) => [change.path, change]));
  const wanted = new Map(
    (accepted ?? changes.map(({ path }) => ({ path }))).map((each) => [each.path, each]),
  );
  const operations: Operation[] = [];
  const results: OperationResult[] = [];
  for (const each of wanted.values()) {
    const planned = plan(each, byPath, known);
    if ("status" in planned) results.push(planned);
    else operations.push(planned);
  }
  return { operations: operations.sort(inOrder), results };
}

function plan(
  { path, digest, control = false }: Accepted,
  byPath: ReadonlyMap<BytePath, Change>,
  known: KnownEntries,
): Operation | OperationResult {
  const change = byPath.get(path) ?? removedWith(path, byPath, known);
  const refused = (reason: string): OperationResult => ({ path, status: "refused", reason });
  if (!change)
    return known.has(path)
      ? { path, status: "applied", note: "the directory has it already" }
      : refused("there is no such change");
  if (isVersionControl(path) && !control)
    return refused("it belongs to the version control, and is written only if it is named with control");
  if (path.length > longestPath || path.split("/").length > mostLevels)
    return refused(`its path is longer than ${longestPath} bytes, or has more than ${mostLevels} levels`);
  if (change.kind === "removed") {
    const type = change.type === "directory" ? "directory" : "file";
    return { path, kind: "removed", type };
  }
  const { kind, type, executable, target } = change;
  if (type === "other") return refused("devices, sockets and pipes are not written");
  if (type === "directory") return { path, kind, type };
  if (change.digest === undefined)
    return refused("its content is too large, or could not be read without a change");
  if (digest !== undefined && digest !== change.digest)
    return { path, status: "conflict", reason: "it changed in the sandbox since the review" };
  if (type === "link") return { path, kind, type, digest, ...(target !== undefined && { target }) };
  return { path, kind, type, digest: change.digest, ...(executable !== undefined && { executable }) };
}

/** The removal of an entry whose directory was removed, or replaced by something else. */
function removedWith(
  path: BytePath,
  byPath: ReadonlyMap<BytePath, Change>,
  known: KnownEntries,
): Change | undefined {
  const entry = known.get(path);
  if (!entry) return undefined;
  for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
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
  const trees = new Set(
    operations.flatMap(({ path }) => {
      const entry = known.get(path);
      return entry && isDirectoryEntry(entry) ? path : [];
    }),
  );
  const needed = new Map<BytePath, HostEntry | undefined>();
  for (const [path, entry] of known) if (paths.has(path) || isBelow(path, trees)) needed.set(path, entry);
  return needed;
}

function isBelow(path: BytePath, trees: ReadonlySet<BytePath>): boolean {
  if (trees.size === 0) return false;
  for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1))
    if (trees.has(path.slice(0, end))) return true;
  return false;
}
