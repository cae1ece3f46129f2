import {
  changeOnWire,
  compareListings,
  hasNoCopy,
  isVersionControl,
  type ListedEntry,
  type ListedFiles,
  largestSide,
  noFileToCompare,
  requireWholePath,
  sinceTemplate,
  snapshotOfOtherSandbox,
  unifiedDiff,
} from "@cloud-sandbox/server-kit/changes";
import type { ControlPlaneContract } from "@cloud-sandbox/server-kit/control-plane-contract";
import type { Handlers } from "@cloud-sandbox/server-kit/portable";
import type { MemoryExchange } from "../memory/memory-exchange.js";
import type { MemoryFiles } from "../memory/memory-files.js";
import type { MemoryFleet } from "./memory-fleet.js";

interface Compared {
  readonly now: MemoryFiles;
  /** Undefined for a template without files. */
  readonly before: MemoryFiles | undefined;
  readonly since: string;
}

/** The operations on what code has changed since the template or a snapshot. There are no copies of directories. */
export function changeHandlers(fleet: MemoryFleet) {
  const compared = (id: string, since = sinceTemplate): Compared => {
    const { template } = fleet.get(id);
    if (since.startsWith("/")) throw hasNoCopy();
    const now = fleet.reachable(id).files;
    if (since === sinceTemplate) return { now, before: template.content?.files, since };
    const snapshot = fleet.snapshots.get(since);
    if (snapshot.sandboxId !== id) throw snapshotOfOtherSandbox(snapshot);
    return { now, before: snapshot.files, since: snapshot.id };
  };
  return {
    listChanges: async ({ params, query, requestId }) => {
      const { now, before, since } = compared(params.id, query.since);
      const changes = await compareListings({
        now: listed(now, "now"),
        before: listed(before, "before"),
        isVersionControl,
        onChange: () => undefined,
      });
      const data = changes.map((change) => changeOnWire(change, ""));
      return { object: "list", data, since, compared: "times", request_id: requestId };
    },

    getDiff: ({ params, query, requestId }) => {
      const { path } = query;
      requireWholePath(path);
      const { now, before } = compared(params.id, query.since);
      const sides = [before, now].map((files) => fileAt(files, path));
      if (!sides[0] && !sides[1]) throw noFileToCompare();
      const texts = sides.map((bytes) => bytes && textIn(bytes));
      const [old, current] = texts;
      const { diff, omitted } =
        typeof old === "object" || typeof current === "object"
          ? { diff: "", ...((typeof old === "object" ? old : current) as Omitted) }
          : unifiedDiff(path.slice(1), old, current);
      return { path, diff, ...(omitted && { omitted }), request_id: requestId };
    },

    applyChanges: ({ params }) => {
      fleet.get(params.id);
      throw hasNoCopy();
    },
  } satisfies Handlers<ControlPlaneContract, unknown, MemoryExchange>;
}

interface Omitted {
  readonly omitted: "binary" | "too_large";
}

function listed(files: MemoryFiles | undefined, side: string): ListedFiles {
  return {
    entries: inOne([...entriesOf(files, side)]),
    digests: async (paths) => new Map(await Promise.all(paths.map((path) => digestAt(files, path)))),
  };
}

async function* inOne(entries: readonly ListedEntry[]): AsyncGenerator<readonly ListedEntry[]> {
  yield entries;
}

function* entriesOf(files: MemoryFiles | undefined, side: string, directory = "/"): Generator<ListedEntry> {
  for (const { path, isDirectory, size, mode } of files?.list(directory) ?? []) {
    if (isDirectory) {
      if (!alwaysThere.includes(path)) yield { path, type: "directory" };
      yield* entriesOf(files, side, path);
    }
    // The clock of a test may stand still, so times tell nothing here.
    else yield { path, type: "file", size, executable: (mode & 0o111) !== 0, modified: side };
  }
}

const alwaysThere: readonly string[] = ["/workspace", "/tmp"];

async function digestAt(files: MemoryFiles | undefined, path: string): Promise<[string, string]> {
  const content = fileAt(files, path) ?? new Uint8Array();
  const digest = new Uint8Array(await globalThis.crypto.subtle.digest("SHA-256", content.slice()));
  return [path, Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("")];
}

const fileAt = (files: MemoryFiles | undefined, path: string): Uint8Array | undefined =>
  files?.exists(path) && !files.stat(path).isDirectory ? files.read(path) : undefined;

function textIn(bytes: Uint8Array): string | Omitted {
  if (bytes.length > largestSide) return { omitted: "too_large" };
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes("\0") ? { omitted: "binary" } : text;
  } catch {
    return { omitted: "binary" };
  }
}
