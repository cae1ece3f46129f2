/** Copies files between this machine and a sandbox, in constant memory. */

import type { AgentAccess } from "../agent/agent-access.js";
import { inTemporaryDirectory, localFailure, nodeModules } from "../config/node-modules.js";
import {
  type CallOptions,
  longestExecution,
  omitUndefined,
  requestInit,
  requireText,
  slowestTransfer,
} from "../config/options.js";
import { CallbackErrors } from "../errors/callback-errors.js";
import { AbortError, invalidArgument, isSandboxError, SandboxError } from "../errors/errors.js";
import type { Commands } from "../execution/commands.js";
import type { CommandResult } from "../execution/results/execution-result.js";
import { CallScope } from "../transport/calls/calls.js";
import { successOf } from "../transport/contract-clients.js";
import { declaredLength } from "../transport/http/transport.js";
import { receivedOf } from "../transport/openapi-client.js";
import { packArchive } from "./local-archive.js";
import { localBlob } from "./local-blob.js";
import { type DirectoryTransfer, SkippedEntries } from "./skipped-entries.js";
import { sendFile } from "./streamed-content.js";
import { ArchiveSelection } from "./unpack-archive.js";

/** Progress of an upload or download. */
export interface TransferProgress {
  /** Bytes transferred so far. Falls back when a failed request is retried. */
  bytes: number;
  /** Bytes in all; undefined if the server does not say. */
  total: number | undefined;
}

/** Options of `files.upload` and `files.download`. */
export interface TransferOptions extends CallOptions {
  /** Called as bytes are transferred; with a custom `fetch`, an upload calls it only once, at the end. */
  onProgress?: ((progress: TransferProgress) => void) | undefined;
}

/** Options of `files.uploadDirectory`. */
export interface DirectoryUploadOptions extends TransferOptions {
  /** Returns true for paths (relative, with slashes) to leave out; leaving out a directory leaves out its contents. */
  exclude?: ((path: string) => boolean) | undefined;
}

/** Options of `files.downloadDirectory`. */
export interface DirectoryDownloadOptions extends TransferOptions {
  /** The most bytes to write on this machine, because code in the sandbox controls the amount. Default 4 GiB. */
  maxBytes?: number | undefined;
}

/** Uploads a local file. Returns its size in bytes. */
export async function uploadFile(
  access: AgentAccess,
  local: string,
  path: string,
  options: TransferOptions & { requestTimeoutSeconds: number },
): Promise<number> {
  const file = await localBlob(checked(local));
  const total = file.size;
  const scope = new CallScope(options.signal);
  const own = new CallbackErrors();
  const tell = options.onProgress && own.of(options.onProgress);
  const onSent =
    tell &&
    ((bytes: number): void => {
      try {
        tell({ bytes: Math.min(bytes, total), total });
      } catch (fault) {
        scope.stop(new AbortError(fault));
      }
    });
  const seconds = options.requestTimeoutSeconds + total / slowestTransfer;
  const timed = requestInit({ signal: scope.abortSignal, requestTimeoutSeconds: seconds });
  const init = { ...timed, ...omitUndefined({ onSent }) };
  try {
    await sendFile(access, path, file, { init });
    scope.throwIfAborted();
  } catch (error) {
    throw own.or(scope.failure ?? error);
  } finally {
    scope.end();
  }
  return total;
}

/** Bytes that may wait to be written. All that wait are written in one call, because each call costs a change of threads. */
const mostUnwritten = 4 * 1024 * 1024;

/** Downloads a file to a local path, completely or not at all. Returns its size in bytes. */
export async function downloadFile(
  access: AgentAccess,
  path: string,
  local: string,
  { maxBytes = Number.POSITIVE_INFINITY, ...options }: DirectoryDownloadOptions = {},
): Promise<number> {
  const { fs, streams } = nodeModules();
  const { mode, target } = await replaceable(checked(local));
  const partial = `${target}.${globalThis.crypto.randomUUID()}.partial`;
  const init = { params: { query: { path } }, parseAs: "stream", ...requestInit(options) } as const;
  const pending = access.client.GET("/files/download", init);
  const content = (await successOf(pending)) ?? new Blob([]).stream();
  const declared = declaredLength(receivedOf(await pending).headers);
  const total = declared >= 0 ? declared : undefined;
  const own = new CallbackErrors();
  const tell = options.onProgress && own.of(options.onProgress);
  // Private until it is complete, if it replaces a private file.
  const file = fs.createWriteStream(partial, { highWaterMark: mostUnwritten, ...omitUndefined({ mode }) });
  const closed = new Promise<void>((resolve) => file.once("close", resolve));
  try {
    await streams.pipeline(
      noLongerThan(maxBytes, content, (bytes) => tell?.({ bytes, total })),
      file,
    );
    if (mode !== undefined) await fs.promises.chmod(partial, mode);
    await fs.promises.rename(partial, target);
    return file.bytesWritten;
  } catch (error) {
    // It may still be opening, which would make the file again.
    await closed;
    await fs.promises.rm(partial, { force: true });
    throw own.or(localFailure(error));
  }
}

/**
 * The file to make or replace at a path, behind links, and the mode of the one that is there, which the new file gets.
 * Refuses what is no regular file: root would replace devices, such as /dev/null, with a file.
 */
async function replaceable(local: string): Promise<{ target: string; mode?: number }> {
  const { fs, path } = nodeModules();
  const { readlink, realpath, stat } = fs.promises;
  try {
    const existing = await stat(local).catch(unlessMissing);
    if (existing !== undefined && !existing.isFile())
      throw new Error(`${local} exists, and is not a regular file`);
    if (existing !== undefined) return { target: await realpath(local), mode: existing.mode & 0o7777 };
    const link = await readlink(local).catch(() => undefined);
    if (link === undefined) return { target: local };
    // A link to a file that does not exist, which is made, as open(2) does.
    return await replaceable(path.isAbsolute(link) ? link : `${await realpath(path.dirname(local))}/${link}`);
  } catch (error) {
    throw localFailure(error);
  }
}

function unlessMissing(error: unknown): undefined {
  if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
}

/** Uploads the contents of a local directory as one archive. */
export async function uploadDirectory(
  access: AgentAccess,
  commands: Commands,
  local: string,
  path: string,
  options: DirectoryUploadOptions & { requestTimeoutSeconds: number },
): Promise<DirectoryTransfer> {
  const { exclude, signal } = options;
  const skipped = new SkippedEntries();
  await inTemporaryDirectory(async (directory) => {
    const archive = nodeModules().path.join(directory, "files.tar.gz");
    // With a slash, a link to a directory is the directory, and a file is an error.
    const source = { path: `${checked(local)}/`, name: "." };
    await packArchive([source], archive, { exclude, signal, skipped });
    await withRemoteFile(commands, async (remote) => {
      await uploadFile(access, archive, remote, options);
      const script = 'mkdir -p -- "$2" && exec tar -xzf "$1" -C "$2" --no-same-owner';
      const { exitCode, stderr } = await runTar(commands, script, [remote, path], signal);
      if (exitCode !== 0) throw archiveFailed(exitCode, stderr);
    });
  });
  return { skipped: skipped.list };
}

/** Downloads the contents of a directory as one archive. */
export async function downloadDirectory(
  access: AgentAccess,
  commands: Commands,
  path: string,
  local: string,
  { maxBytes = 4 * 1024 ** 3, ...options }: DirectoryDownloadOptions = {},
): Promise<DirectoryTransfer> {
  if (!(maxBytes > 0)) throw invalidArgument("maxBytes must be a number of bytes above 0.");
  checked(local);
  const { fs, path: paths, streams, zlib } = nodeModules();
  const skipped = new SkippedEntries();
  await inTemporaryDirectory(async (directory) => {
    const archive = paths.join(directory, "files.tar.gz");
    await withRemoteFile(commands, async (remote) => {
      const script = 'LC_ALL=C exec tar -czf "$1" -C "$2" .';
      const { exitCode, stderr } = await runTar(commands, script, [remote, path], options.signal);
      if (!addUnpacked(stderr, skipped) && exitCode !== 0) throw archiveFailed(exitCode, stderr);
      await downloadFile(access, remote, archive, { ...options, maxBytes });
    });
    const { unpackTar } = await import("./tar-unpacker.js");
    try {
      await fs.promises.mkdir(local, { recursive: true });
      const limited = (source: AsyncIterable<Uint8Array>) => noLongerThan(maxBytes, source);
      const selection = new ArchiveSelection(skipped);
      const unpacking = unpackTar(local, { filter: selection.takes, map: selection.hide });
      const stages = [fs.createReadStream(archive), zlib.createGunzip(), limited, unpacking] as const;
      await streams.pipeline(...stages, omitUndefined({ signal: options.signal }));
      await selection.finish(local);
    } catch (error) {
      throw options.signal?.aborted ? new AbortError(options.signal.reason) : notUnpacked(error);
    }
  });
  return { skipped: skipped.list };
}

/**
 * Adds what tar said it could not read, or changed meanwhile: the rest is in the archive. False if tar gave up, or said nothing
 * of that kind.
 */
function addUnpacked(stderr: string, skipped: SkippedEntries): boolean {
  if (stderr.includes("not recoverable")) return false;
  const reports = [...stderr.matchAll(/^tar: \.\/(.+?): (.+)$/gm)];
  for (const [, name = "", reason = ""] of reports) skipped.add(name, `tar says: ${reason}`);
  return reports.length > 0;
}

/** Why the archive could not be unpacked: errors of the file system have a code, refusals of what is in the archive have none. */
function notUnpacked(error: unknown): SandboxError {
  if (isSandboxError(error) || !(error instanceof Error) || "code" in error) return localFailure(error);
  return new SandboxError({
    summary: `The directory in the sandbox holds something that is not copied to this machine: ${error.message.replace(/\.$/, "")}.`,
    hint: "Remove it there, or pack the directory with tar and download that file; the local copy is incomplete.",
    code: "LOCAL_FILE_FAILED",
    cause: error,
  });
}

async function* noLongerThan(
  most: number,
  source: AsyncIterable<Uint8Array>,
  passed?: (length: number) => void,
): AsyncGenerator<Uint8Array> {
  let length = 0;
  for await (const chunk of source) {
    length += chunk.length;
    if (length > most) throw tooMuch(most);
    passed?.(length);
    yield chunk;
  }
}

function tooMuch(most: number): SandboxError {
  return new SandboxError({
    summary: `The download was stopped, because the directory holds more than ${most} bytes.`,
    hint: "Allow more with maxBytes, or download a part of the directory.",
    code: "DIRECTORY_TOO_LARGE",
  });
}

/** Calls `use` with the path of a temporary file in the sandbox, and deletes the file afterwards. */
async function withRemoteFile(commands: Commands, use: (path: string) => Promise<void>): Promise<void> {
  const path = `/tmp/.cloud-sandbox-${globalThis.crypto.randomUUID()}.tar.gz`;
  try {
    await use(path);
  } finally {
    // Delete the file also after an abort. If that fails, the file is deleted with the sandbox.
    await commands.run(["rm", "-f", path], { requestTimeoutSeconds: 10 }).catch(() => undefined);
  }
}

async function runTar(
  commands: Commands,
  script: string,
  args: readonly string[],
  signal: AbortSignal | undefined,
): Promise<CommandResult> {
  if (signal?.aborted) throw new AbortError(signal.reason);
  const program = ["bash", "-c", script, "tar", ...args];
  return commands.run(program, { timeoutSeconds: longestExecution, signal });
}

function archiveFailed(exitCode: number, stderr: string): SandboxError {
  return new SandboxError({
    summary: `tar in the sandbox ended with exit code ${exitCode}: ${stderr.trim().slice(-500)}`,
    hint: "Check the path in the sandbox; the sandbox's template must have bash, tar and gzip.",
    code: "ARCHIVE_FAILED",
  });
}

function checked(path: string): string {
  requireText("localPath", path);
  return path;
}
