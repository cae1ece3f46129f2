import { open, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { Problem } from "@cloud-sandbox/server-kit";
import { hasNoCopy, noFileToCompare, type TextDiff } from "@cloud-sandbox/server-kit/changes";
import { sandboxFailed, sandboxStopped } from "@cloud-sandbox/server-kit/handlers";
import pLimit from "p-limit";
import type { HostDirectory, Machine, OpenedCopy } from "../runtime/sandbox-runtime.js";
import { LazyDirectory } from "../store/lazy-directory.js";
import type { SandboxMount } from "../store/sandbox-repository.js";
import { type Accepted, neededPaths, planApply } from "./apply-plan.js";
import { type BytePath, bytePathOf } from "./byte-path.js";
import { ChangeLimits, tooManyChanges } from "./change-limits.js";
import { protocolLine } from "./content-stream.js";
import { CopyProgramError, converse, copyProgram, parsedLines, startOnHost } from "./copy-processes.js";
import { type ApplyingRequest, type HostRequest, hasTooMany, wasReplaced } from "./copy-requests.js";
import { manifestRecord, mostEntries, readManifest } from "./host-manifest.js";
import { hasContent, type OperationResult } from "./host-writer.js";
import type { Change } from "./tree-comparison.js";

/** A sandbox as far as its copies need it. */
export interface CopyingSandbox {
  readonly id: string;
  readonly status: string;
  readonly failureReason: string | undefined;
  readonly machine: Machine | undefined;
  readonly mounted: readonly SandboxMount[];
}

/** A directory of this machine that stays open until it is released. */
interface OpenedHost {
  readonly directory: HostDirectory;
  release(): Promise<void>;
}

export interface ApplyOptions {
  /** Default: all changes but the version control's. */
  readonly accepted: readonly Accepted[] | undefined;
  /** Whether nothing is written. */
  readonly check: boolean;
  /** When it aborts, no more is written: each file is the old or the new one. */
  readonly signal: AbortSignal;
}

/**
 * Directories of this machine that sandboxes have a copy of: what code changed in the copies, and how it gets to the directories.
 * A manifest of each directory is kept from when the sandbox was created, because others may change the directory meanwhile.
 */
export class CopiedDirectories {
  readonly #directory: LazyDirectory;
  /** A manifest, or a list of changes, is as large as a directory: two at a time. */
  readonly #reading = pLimit(2);
  /** One at a time, so that none takes the temporary files of another for leftovers. */
  readonly #writing = pLimit(1);

  constructor(
    /** Finds the directory of the manifests, when it is first needed. */
    directory: () => Promise<string>,
    private readonly openHost: (path: string) => Promise<OpenedHost>,
  ) {
    this.#directory = new LazyDirectory(directory);
  }

  /** Writes down what is in the directories that a new sandbox gets copies of. */
  async begin(id: string, mounts: readonly SandboxMount[]): Promise<void> {
    for (const [index, { source, isCopy }] of mounts.entries())
      if (isCopy && "host" in source) await this.#reading(() => this.#begin(id, index, source.host));
  }

  async #begin(id: string, index: number, host: string): Promise<void> {
    const path = await this.#manifest(id, index);
    const { directory, release } = await this.openHost(host);
    const { identity, owner } = directory;
    const request: HostRequest = { path: bytePathOf(directory.path), identity, owner };
    try {
      await using file = await open(`${path}.partial`, "w", 0o600);
      await file.write(protocolLine(request));
      const write = async (bytes: Buffer): Promise<void> => {
        await file.write(bytes);
      };
      await converse(startOnHost("manifest"), request, write);
      await file.sync();
      await rename(`${path}.partial`, path);
    } catch (error) {
      await rm(`${path}.partial`, { force: true });
      throw asProblem(error, host);
    } finally {
      await release();
    }
  }

  /** What code has changed in a copy, by path. Throws a 413 problem beyond 100,000 changes, or 32 MiB of them. */
  async changes(
    sandbox: CopyingSandbox,
    { target }: SandboxMount,
    signal: AbortSignal,
  ): Promise<readonly Change[]> {
    return this.#reading(async () => {
      const changes: Change[] = [];
      let count = 0;
      const { program, places } = started(sandbox, target, "changes");
      const limits = new ChangeLimits();
      const parse = parsedLines<Change | { readonly count: number }>((line) => {
        if ("count" in line) count = line.count;
        else {
          changes.push(line);
          limits.add(line);
        }
      });
      const take = (piece: Buffer): Promise<void> => {
        limits.addBytes(piece.length);
        return parse(piece);
      };
      await converse(program, places, take, { signal }).catch((error: unknown) => {
        throw unreadable(sandbox, error);
      });
      if (count > changes.length)
        throw tooManyChanges(count > mostEntries ? `more than ${mostEntries}` : count);
      return changes.sort((one, other) => (one.path < other.path ? -1 : 1));
    });
  }

  /** What code has changed in one file. Throws the 404 problem if there is none on either side. */
  async diff(sandbox: CopyingSandbox, { target }: SandboxMount, path: BytePath): Promise<TextDiff> {
    return this.#reading(async () => {
      const pieces: Buffer[] = [];
      const { program, places } = started(sandbox, target, "diff");
      await converse(program, { ...places, path }, (piece) => void pieces.push(piece)).catch(
        (error: unknown) => {
          throw unreadable(sandbox, error);
        },
      );
      const answer = JSON.parse(Buffer.concat(pieces).toString()) as TextDiff | null;
      if (!answer) throw noFileToCompare();
      return answer;
    });
  }

  /** Writes accepted changes to the directory, and says for each path whether it is there. */
  async apply(
    sandbox: CopyingSandbox,
    mount: SandboxMount,
    { accepted, check, signal }: ApplyOptions,
  ): Promise<readonly OperationResult[]> {
    return this.#writing(async () => {
      const changes = await this.changes(sandbox, mount, signal);
      const manifest = await this.#manifest(sandbox.id, sandbox.mounted.indexOf(mount));
      const text = await readFile(manifest, "latin1");
      const known = readManifest(text.slice(text.indexOf("\n") + 1));
      const host = JSON.parse(text.slice(0, text.indexOf("\n"))) as HostRequest;
      const { operations, results } = planApply(changes, known, accepted);
      if (operations.length === 0) return results;
      const needed = [...neededPaths(operations, known)].map(([path, entry]) => manifestRecord(path, entry));
      const request: ApplyingRequest = { ...host, known: needed.join(""), operations, check };
      const done: OperationResult[] = [];
      await using file = await open(manifest, "a");
      const take = parsedLines<OperationResult | { readonly record: string }>(async (line) => {
        if ("record" in line) await file.write(line.record, null, "latin1");
        else done.push(line);
      });
      const writer = startOnHost("apply");
      const paths = check ? [] : operations.filter(hasContent).map(({ path }) => path);
      const feed = async (): Promise<void> => {
        if (paths.length === 0) return;
        const { program, places } = started(sandbox, mount.target, "contents");
        program.stderr.resume();
        program.stdin.on("error", () => undefined).end(protocolLine({ ...places, paths }));
        // If it ends early, or the caller leaves, the writer is told so by the end of its input.
        await pipeline(program.stdout, writer.stdin, { signal }).catch(() => undefined);
        program.kill("SIGKILL");
      };
      const code = await converse(writer, request, take, { feed, expected: [wasReplaced] }).catch(
        (error: unknown) => {
          throw unreadable(sandbox, error);
        },
      );
      if (code === wasReplaced) throw replaced(mount);
      return [...results, ...done];
    });
  }

  /** Forgets a sandbox that has ended. */
  async remove({ id, mounted }: CopyingSandbox): Promise<void> {
    for (const [index, { isCopy }] of mounted.entries())
      if (isCopy) await rm(await this.#manifest(id, index), { force: true });
  }

  /** Forgets all sandboxes but these. */
  async keepOnly(sandboxes: readonly CopyingSandbox[]): Promise<void> {
    const directory = await this.#directory.ready();
    const kept = new Set(
      sandboxes.flatMap(({ id, mounted }) => mounted.map((_, index) => manifestName(id, index))),
    );
    for (const name of await readdir(directory))
      if (!kept.has(name)) await rm(join(directory, name), { force: true });
  }

  async #manifest(id: string, index: number): Promise<string> {
    return join(await this.#directory.ready(), manifestName(id, index));
  }
}

const manifestName = (id: string, index: number): string => `${id}.${index}`;

/** Starts the program beside a sandbox's machine. Throws the problem that says why there is no machine. */
function started(sandbox: CopyingSandbox, target: string, name: string): OpenedCopy {
  if (sandbox.status === "error") throw sandboxFailed(sandbox);
  if (!sandbox.machine?.readCopy) throw sandboxStopped(sandbox.id);
  const opened = sandbox.machine.readCopy(target, copyProgram(name));
  const { merged, upper, lower } = opened.places;
  const places = { merged: bytePathOf(merged), upper: bytePathOf(upper), lower: bytePathOf(lower) };
  return { ...opened, places };
}

/** Whether a sandbox has a copy of a directory. */
export const hasCopy = ({ mounted }: CopyingSandbox): boolean => mounted.some(({ isCopy }) => isCopy);

/** The copy that a request means. Throws a 400 problem if the sandbox has none, or several. */
export function copyOf({ mounted }: CopyingSandbox, since: string | undefined): SandboxMount {
  const copies = mounted.filter(({ isCopy }) => isCopy);
  const [only] = copies;
  if (!only) throw hasNoCopy();
  if (since === undefined && copies.length === 1) return only;
  const found = copies.find(({ target }) => target === since);
  if (found) return found;
  throw new Problem(400, "INVALID_REQUEST", "since names no copy of a directory that this sandbox has.", {
    hint: `Name one of ${copies.map(({ target }) => target).join(", ")}.`,
  });
}

/** The copy that has a path. */
export const copyWith = ({ mounted }: CopyingSandbox, path: string): SandboxMount | undefined =>
  mounted.find(({ target, isCopy }) => isCopy && path.startsWith(`${target}/`));

function asProblem(error: unknown, host: string): unknown {
  if (!(error instanceof CopyProgramError)) return error;
  const reason =
    error.exitCode === hasTooMany
      ? `has more than ${mostEntries} files and directories, the most that can be copied`
      : "was replaced, or could not be read";
  return new Problem(400, "MOUNT_NOT_ALLOWED", `${host} ${reason}.`, { hint: "Mount another directory." });
}

function unreadable({ id }: CopyingSandbox, error: unknown): unknown {
  if (!(error instanceof CopyProgramError)) return error;
  return new Problem(409, "CONFLICT", `The files of sandbox ${id} could not be read: ${error.message}.`, {
    hint: "Try again.",
    cause: error,
  });
}

const replaced = ({ source }: SandboxMount): Problem =>
  new Problem(
    409,
    "CONFLICT",
    `${"host" in source ? source.host : "The directory"} is another directory now than when the sandbox got its copy.`,
    { hint: "Create a new sandbox with a copy of the directory." },
  );
