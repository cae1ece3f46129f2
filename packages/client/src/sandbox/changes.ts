import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import {
  type CallOptions,
  callOptionNames,
  checkBoolean,
  checkKnown,
  checkText,
  omitUndefined,
  requestInit,
  requireText,
} from "../config/options.js";
import { invalidArgument } from "../errors/errors.js";
import { bodyOf, type ControlPlaneClient } from "../transport/contract-clients.js";
import { type SnapshotReference, snapshotName } from "./snapshots.js";

/** What code has changed in a sandbox. */
export interface SandboxChange {
  /** The path in the sandbox. A byte of a name that is no UTF-8 is a lone surrogate, U+DC80 to U+DCFF, as in Python. */
  path: string;
  /** `mode`: the content is the same, and the file became executable or is no longer. */
  kind: "added" | "changed" | "removed" | "mode";
  /** `other`: a device, socket or pipe, which cannot be applied. */
  type: "file" | "directory" | "link" | "other";
  /** Bytes of a file. */
  size: number | undefined;
  /** Whether a file may be executed. */
  executable: boolean | undefined;
  /**
   * SHA-256 of a file's content, or of a link's target, in hexadecimal. Undefined for files above 256 MiB, for those beyond 1 GiB of
   * content in one answer, and for those that could not be read; they cannot be applied.
   */
  digest: string | undefined;
  /** What a link leads to. */
  target: string | undefined;
  /** How many files and directories were in a directory that was removed, or replaced by something else. */
  entries: number | undefined;
  /**
   * How many entries of the directory are left out, with all in them, because their paths have more than 4,096 bytes (below the mount,
   * if there is one) or, without a mount, more than 256 levels. They cannot be applied. The directory itself may be as it was.
   */
  skipped: number | undefined;
  /** Whether programs of the host may run it by themselves, such as `package.json`, `Makefile` and `.envrc`. */
  runs: boolean;
  /**
   * Whether it belongs to the version control, as all below `.git` and `.hg`, or removes or replaces a directory that has some in it. It is applied
   * only when named with `control: true`.
   */
  versionControl: boolean;
}

/**
 * What a sandbox is compared with: the path of a mount with mode `copy`, as `/repo`; `template`; or a snapshot that was taken of the
 * sandbox, by its id, its name or its record.
 */
export type ComparedWith = "template" | SnapshotReference;

/** Options of `sandbox.changes`. */
export interface ChangesOptions extends CallOptions {
  /**
   * What to compare with. Default: the only mount with mode `copy` that the sandbox has, or `template` if it has none. A snapshot of
   * another sandbox is a `ConflictError`, and an unknown one a `NotFoundError`.
   */
  since?: ComparedWith | undefined;
}

/** Options of `sandbox.diff`. */
export interface DiffOptions extends CallOptions {
  /** What to compare with. Default: the directory, if the path is below a mount with mode `copy`, else `template`. */
  since?: ComparedWith | undefined;
}

/** The difference of one file. */
export interface FileDiff {
  /** A unified diff. Empty if the file has not changed, or if `omitted` says why there is none. */
  diff: string;
  /** `binary`: a side is not text. `too_large`: a side has more than 1 MiB, or more than 20,000 lines differ. */
  omitted: "binary" | "too_large" | undefined;
}

/**
 * A change that was accepted: its path in the sandbox, or an entry of `sandbox.changes()`, which binds it to what was reviewed. If it is
 * another change by now, the outcome is `conflict`.
 */
export type AcceptedChange =
  | string
  | {
      path: string;
      /** The digest that was reviewed. */
      digest?: string | undefined;
      /**
       * What was reviewed, with `type`, `executable` and `digest` as they were, undefined where they were. Default: only what is given is
       * compared.
       */
      kind?: SandboxChange["kind"] | undefined;
      type?: SandboxChange["type"] | undefined;
      executable?: boolean | undefined;
      /** Whether the path may belong to the version control, or be a directory that has some in it. Default: false. */
      control?: boolean | undefined;
    };

/** Options of `sandbox.apply`. */
export interface ApplyOptions extends CallOptions {
  /** The path of a mount with mode `copy`, as `/repo`. Default: the only one that the sandbox has. */
  since?: string | undefined;
  /**
   * The accepted changes. More than one request takes, some 16,000, are sent in several; if one fails, those before it are applied, and the
   * same call again applies the rest. Default: all, but those of the version control.
   */
  paths?: readonly AcceptedChange[] | undefined;
  /** Whether only to say what would happen. Default: false. */
  check?: boolean | undefined;
}

/** The outcome of one accepted path. */
export interface AppliedChange {
  path: string;
  /**
   * `applied`: the directory has it now. `conflict`: it changed in the directory since the sandbox got its copy, or in the sandbox
   * since the review. `refused`: it cannot be written, or must not be.
   */
  status: "applied" | "conflict" | "refused";
  /** Why it was not applied. */
  reason: string | undefined;
  /** What else is to be known of an applied path. */
  note: string | undefined;
}

/** Seconds that a server may take to start what a sandbox is compared with, and to read the files of both. */
const comparisonSeconds = 180;

/** What code has changed in a sandbox. */
export async function changesOf(
  controlPlane: ControlPlaneClient,
  id: string,
  options: ChangesOptions = {},
): Promise<SandboxChange[]> {
  const init = comparison("changes", id, options, {});
  const { data } = await bodyOf(controlPlane.GET("/v1/sandboxes/{id}/changes", init), "data");
  return data.map((change) => ({
    path: change.path,
    kind: change.kind,
    type: change.type,
    size: change.size,
    executable: change.executable,
    digest: change.digest,
    target: change.target,
    entries: change.entries,
    skipped: change.skipped,
    runs: change.runs ?? false,
    versionControl: change.version_control ?? false,
  }));
}

/** The unified diff of one file. */
export async function diffOf(
  controlPlane: ControlPlaneClient,
  id: string,
  path: string,
  options: DiffOptions = {},
): Promise<FileDiff> {
  requireText("path", path);
  const init = comparison("diff", id, options, { path });
  const { diff, omitted } = await bodyOf(controlPlane.GET("/v1/sandboxes/{id}/diff", init), "diff");
  return { diff, omitted };
}

function comparison<Query extends object>(call: string, id: string, options: DiffOptions, query: Query) {
  checkKnown(call, options, { ...callOptionNames, since: true });
  const since = options.since === undefined ? {} : { since: snapshotName(options.since) };
  return {
    params: { path: { id }, query: { ...query, ...since } },
    ...requestInit(options, comparisonSeconds),
  };
}

/** Writes accepted changes to the directory, with as many requests as they need. */
export async function applyChanges(
  controlPlane: ControlPlaneClient,
  id: string,
  options: ApplyOptions = {},
): Promise<AppliedChange[]> {
  checkKnown("apply", options, { ...callOptionNames, since: true, paths: true, check: true });
  const { since, paths, check } = options;
  checkText("since", since);
  checkBoolean("check", check);
  const applied: AppliedChange[] = [];
  for (const part of partsOf(paths?.map(acceptedOnWire))) {
    const body = omitUndefined({ since, check, paths: part });
    const init = { params: { path: { id } }, body, ...requestInit(options) };
    const { data } = await bodyOf(controlPlane.POST("/v1/sandboxes/{id}/apply", init), "data");
    for (const { path, status, reason, note } of data) applied.push({ path, status, reason, note });
  }
  return applied;
}

type AcceptedOnWire = ControlPlaneSchemas["AcceptedPath"];

/** Paths of one request, and their characters: a server takes 16 MiB, and each character may have three bytes. */
const mostPaths = 100_000;
const mostCharacters = 4 * 1024 * 1024;

/** The paths of each request: all in one, unless they are too long for it. */
function partsOf(paths: readonly AcceptedOnWire[] | undefined): (AcceptedOnWire[] | undefined)[] {
  if (paths === undefined) return [undefined];
  let part: AcceptedOnWire[] = [];
  const parts = [part];
  let characters = 0;
  for (const accepted of paths) {
    const own = JSON.stringify(accepted).length + 1;
    if (characters + own > mostCharacters || part.length === mostPaths) {
      part = [];
      parts.push(part);
      characters = 0;
    }
    part.push(accepted);
    characters += own;
  }
  return parts;
}

function acceptedOnWire(accepted: AcceptedChange, index: number): ControlPlaneSchemas["AcceptedPath"] {
  const what = `paths[${index}]`;
  if (typeof accepted === "string") return { path: accepted };
  if (typeof accepted !== "object" || accepted === null)
    throw invalidArgument(`${what} must be a path, or an object with a path.`);
  const { path, digest, kind, type, executable, control } = accepted;
  requireText(`${what}.path`, path);
  checkText(`${what}.digest`, digest);
  checkText(`${what}.kind`, kind);
  checkText(`${what}.type`, type);
  checkBoolean(`${what}.executable`, executable);
  checkBoolean(`${what}.control`, control);
  return { path, ...omitUndefined({ digest, kind, type, executable, control }) };
}
