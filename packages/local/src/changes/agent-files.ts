import { type ListedEntry, type ListedFiles, largestSide } from "@cloud-sandbox/server-kit/changes";
import type { AgentCalls } from "../agents/agent-calls.js";
import type { Machine } from "../runtime/sandbox-runtime.js";
import type { BytePath } from "./byte-path.js";
import { tooManyFiles } from "./change-limits.js";
import { mostEntries } from "./host-manifest.js";
import type { Side } from "./text-diff.js";

/** Most bytes of all paths of a listing. */
const mostPathBytes = 256 * 1024 * 1024;

type Told = Readonly<Record<string, unknown>>;

/** What a machine's agent tells about its files. All of it is checked, because code in the sandbox may have replaced the agent. */
export class AgentFiles implements ListedFiles {
  constructor(
    private readonly agents: Pick<AgentCalls, "readFiles">,
    private readonly machine: Machine,
    private readonly signal: AbortSignal,
    /** Whether also directories are listed that code cannot have changed. */
    private readonly isWhole = false,
  ) {}

  /** What a snapshot keeps, by its {@link BytePath}. Throws a 413 problem beyond a million entries. */
  get entries(): AsyncIterable<readonly ListedEntry[]> {
    return this.#list();
  }

  async *#list(): AsyncGenerator<readonly ListedEntry[]> {
    let count = 0;
    let bytes = 0;
    for await (const told of this.#read("list", {
      disk: this.machine.writeDisk !== undefined,
      whole: this.isWhole,
    })) {
      const entries = told.map(entryIn);
      count += entries.length;
      for (const { path, target = "" } of entries) bytes += path.length + target.length;
      if (count > mostEntries || bytes > mostPathBytes) throw tooManyFiles();
      yield entries;
    }
  }

  async digests(paths: readonly BytePath[]): Promise<ReadonlyMap<BytePath, string>> {
    const wanted = new Set<unknown>(paths);
    const digests = new Map<BytePath, string>();
    let count = 0;
    for await (const told of this.#read("digests", { paths })) {
      for (const { path, digest } of told)
        if (wanted.has(path) && typeof digest === "string" && isDigest.test(digest))
          digests.set(path as BytePath, digest);
      count += told.length;
      if (count >= paths.length) break;
    }
    return digests;
  }

  /** What is at a path. Undefined if there is nothing, or a directory. */
  async side(path: BytePath): Promise<Side | undefined> {
    for await (const [told] of this.#read("side", { path, largest: largestSide })) {
      const { bytes, omitted }: Told = { ...(told?.side as object | undefined) };
      if (omitted === "binary" || omitted === "too_large") return { omitted };
      if (!isByteString(bytes)) return undefined;
      return bytes.length > largestSide ? { omitted: "too_large" } : { bytes };
    }
    throw new Error("its agent does not tell what is at the path");
  }

  async *#read(operation: "list" | "digests" | "side", request: object): AsyncGenerator<readonly Told[]> {
    const { agents, machine, signal } = this;
    for await (const { facts } of await agents.readFiles(machine, operation, request, signal))
      yield Array.isArray(facts) ? facts.map((fact) => ({ ...fact })) : [];
  }
}

const types: readonly unknown[] = ["file", "directory", "link", "other", "mount"];
const isDigest = /^[0-9a-f]{64}$/;
/** Names without a slash, of which none is empty or leads elsewhere. */
const isWholePath = /^(?:\/(?!\.{1,2}(?:\/|$))[^\0/\u0100-\uffff]+)+$/;
const isTime = /^-?\d{1,30}$/;

const isByteString = (value: unknown): value is string =>
  typeof value === "string" && /^[\0-\u00ff]*$/.test(value);

/** The entry that an agent tells of. Throws if there can be no such entry. */
function entryIn({ path, type, size, executable, modified, target, skipped, untouched }: Told): ListedEntry {
  if (typeof path !== "string" || path.length > 4096 || !isWholePath.test(path) || !types.includes(type))
    throw cannotBe();
  const entry = { path, type: type as ListedEntry["type"] };
  if (type === "directory")
    return { ...entry, ...(isCount(skipped) && { skipped }), ...(untouched === true && { untouched }) };
  if (type === "link") return isByteString(target) && target.length <= 4096 ? { ...entry, target } : entry;
  if (type !== "file") return entry;
  if (!isCount(size) || typeof modified !== "string" || !isTime.test(modified)) throw cannotBe();
  return { ...entry, size, modified, executable: executable === true };
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

const cannotBe = (): Error => new Error("its agent tells of files that cannot be");
