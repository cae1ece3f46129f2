import type { AgentAccess } from "../agent/agent-access.js";
import type { LinkOptions, SandboxLinks } from "../agent/sandbox-links.js";
import {
  type CallOptions,
  callInit,
  callOptionNames,
  checkBoolean,
  checkFunction,
  checkKnown,
  checkSeconds,
  checkWhole,
  type OptionNames,
  omitUndefined,
  requestInit,
  requireText,
  requireWhole,
  slowestTransfer,
} from "../config/options.js";
import { invalidArgument, NotFoundError, type ValidationError } from "../errors/errors.js";
import type { Commands } from "../execution/commands.js";
import { bodyOf, readBody, successOf } from "../transport/contract-clients.js";
import { sizeOf } from "../transport/http/multipart.js";
import { onNode } from "../transport/on-node.js";
import type { CallInit } from "../transport/openapi-client.js";
import { type FileContent, isContentStream, wholeContent } from "./file-content.js";
import { type DirectoryListing, type FileEntry, fileEntry, noEntry, root, truncated } from "./file-entry.js";
import { FileWatch, type WatchOptions } from "./file-watch.js";
import type { DirectoryDownloadOptions, DirectoryUploadOptions, TransferOptions } from "./local-files.js";
import type { DirectoryTransfer } from "./skipped-entries.js";
import { sendFile } from "./streamed-content.js";
import type { FileToWrite } from "./write-many.js";

/** Options of `readBytes`. */
export interface ReadBytesOptions extends CallOptions {
  /**
   * The most bytes to hold in memory. A larger file rejects with code FILE_TOO_LARGE, and its remaining bytes are not
   * received. Checking with `stat` first is not enough: it gives the size of a link, not of its target, and a file may
   * grow.
   */
  maxBytes?: number | undefined;
}

/** Options of `write`. */
export interface WriteOptions extends CallOptions {
  /** Permissions in octal. Default: those of the file that is replaced, "0644" for a new one. */
  mode?: string | undefined;
  /** If `false`, an existing file is a `ConflictError`. Default true. */
  overwrite?: boolean | undefined;
}

const writeOptionNames: OptionNames<WriteOptions> = { ...callOptionNames, mode: true, overwrite: true };
const transferOptionNames: OptionNames<TransferOptions> = { ...callOptionNames, onProgress: true };

/** Options of `writeMany`: those of `write`, for each file, and how many are written at a time. */
export interface WriteManyOptions extends WriteOptions {
  /** Files to write at the same time, 1 to 32. Default 8. */
  concurrency?: number | undefined;
}

/** A file after `write` or `upload`. */
export interface WrittenFile {
  path: string;
  /** Size in bytes. */
  size: number;
}

/**
 * Files of a sandbox, below /workspace and /tmp; relative paths start at /workspace. A path elsewhere is a
 * `PermissionDeniedError`, a path that does not exist a `NotFoundError`.
 */
export class Files {
  readonly #access: AgentAccess;
  readonly #commands: Commands;
  readonly #requestTimeout: number;
  readonly #links: SandboxLinks;

  /** @internal */
  static of(access: AgentAccess, commands: Commands, requestTimeout: number, links: SandboxLinks): Files {
    return new Files(access, commands, requestTimeout, links);
  }

  private constructor(access: AgentAccess, commands: Commands, requestTimeout: number, links: SandboxLinks) {
    this.#links = links;
    this.#access = access;
    this.#commands = commands;
    this.#requestTimeout = requestTimeout;
  }

  /**
   * Makes a link that downloads a file, for whoever has it (POST /v1/sandboxes/{id}/links). It is valid until it expires, the sandbox is gone,
   * its API key is revoked, or `sandbox.ports.revoke()` is called. The file is looked for when the link is used. An extension: on the
   * cloud, a `NotFoundError`.
   */
  async downloadUrl(path: string, options?: LinkOptions): Promise<string> {
    requireText("path", path, 4096);
    return (await this.#links.make("files.downloadUrl", { kind: "download", path }, options)).url;
  }

  /** Makes a link like `downloadUrl`, to which a file is written by PUT, with its bytes as the body. It replaces a file of that path. */
  async uploadUrl(path: string, options?: LinkOptions): Promise<string> {
    requireText("path", path, 4096);
    return (await this.#links.make("files.uploadUrl", { kind: "upload", path }, options)).url;
  }

  /** Reads a file as text, up to 64 MiB as JSON (GET /files/read). */
  async readText(path: string, options?: CallOptions): Promise<string> {
    requireText("path", path);
    const params = { query: { path } };
    const { content } = await bodyOf(
      this.#access.client.GET("/files/read", { params, ...callInit(options) }),
      "content",
    );
    return content;
  }

  /** Reads a file as bytes, of any size or at most `maxBytes` (GET /files/download). */
  async readBytes(path: string, options: ReadBytesOptions = {}): Promise<Uint8Array> {
    checkKnown("files.readBytes", options, { ...callOptionNames, maxBytes: true });
    const { maxBytes } = options;
    requireText("path", path);
    checkWhole("maxBytes", maxBytes, 1);
    const timed = { ...requestInit(options), ...omitUndefined({ maxBytes }) };
    const init = { params: { query: { path } }, parseAs: "arrayBuffer", ...timed } as const;
    // An empty file is an answer without a body.
    const bytes = (await successOf(this.#access.client.GET("/files/download", init))) ?? new ArrayBuffer(0);
    return new Uint8Array(bytes);
  }

  /**
   * Writes a file, creating missing directories: POST /files/write for texts up to 256 Ki characters, else POST /files/upload.
   * A large `Blob` and a stream are sent in constant memory. Bytes are not copied, so do not change them during the call. A
   * stream is not retried, and takes as long as it takes; an error that it throws rejects the call, and the file stays as it
   * was. Servers without this project's extensions, such as the cloud, take `mode` and `overwrite` only for text; for them, and
   * outside Node.js, a stream is read into memory first.
   */
  async write(path: string, source: FileContent, options: WriteOptions = {}): Promise<WrittenFile> {
    checkKnown("files.write", options, writeOptionNames);
    const { mode, overwrite } = options;
    requireText("path", path);
    checkBoolean("overwrite", overwrite);
    checkMode(mode);
    const chosen = omitUndefined({ mode, overwrite });
    if (isContentStream(source) && this.#access.isExtended && onNode()) {
      const { sendStream } = await import("./streamed-content.js");
      const { requestTimeoutSeconds: requestTimeout, signal } = options;
      checkSeconds("requestTimeoutSeconds", requestTimeout);
      const limits = { requestTimeout, signal, longestPause: this.#requestTimeout };
      const { size, wire } = await sendStream(this.#access, path, source, { ...chosen, ...limits });
      return { path: wire?.path ?? path, size: wire?.size ?? size };
    }
    const content = await wholeContent(source, options.signal);
    const isPlain = this.#access.isExtended || Object.keys(chosen).length === 0;
    if (typeof content === "string" && (content.length <= longestInlineText || !isPlain)) {
      const size = new TextEncoder().encode(content).length;
      const init = this.#transferInit(options, size);
      const body = { path, content, ...chosen };
      const wire = await successOf(this.#access.client.POST("/files/write", { body, ...init }));
      return { path: wire?.path ?? path, size: wire?.size ?? size };
    }
    if (!isPlain) throw onlyForText();
    const file = typeof content === "string" ? new TextEncoder().encode(content) : content;
    const size = sizeOf(file);
    const init = this.#transferInit(options, size);
    const wire = await sendFile(this.#access, path, file, { ...chosen, init });
    return { path: wire?.path ?? path, size: wire?.size ?? size };
  }

  /**
   * Writes several files, each as `write` does, 8 at a time. Resolves with the written files, in the order given. There is
   * no limit on their number. If a file cannot be written, no further file is begun, those being written are finished, and
   * the call rejects with code FILES_NOT_WRITTEN: its message names the files that are left (the first 20), its `cause` is
   * the first failure. `requestTimeoutSeconds` applies to each file. If `signal` fires, rejects with an `AbortError`;
   * files written before stay.
   */
  async writeMany(files: Iterable<FileToWrite>, options: WriteManyOptions = {}): Promise<WrittenFile[]> {
    checkKnown("files.writeMany", options, { ...writeOptionNames, concurrency: true });
    const { concurrency = 8, ...each } = options;
    requireWhole("concurrency", concurrency, 1, 32);
    checkMode(each.mode);
    if (!files?.[Symbol.iterator]) throw invalidArgument("files must be a list of { path, content }.");
    const all = [...files];
    for (const file of all) requireText("path", file?.path);
    const write = ({ content, path }: FileToWrite): Promise<WrittenFile> => this.write(path, content, each);
    const { writeEach } = await import("./write-many.js");
    return this.#access.background.during(() => writeEach(all, concurrency, each.signal, write));
  }

  /**
   * Lists a directory, sorted by name (GET /files/list). Default: /workspace. The server lists at most 10,000 entries.
   */
  async list(path = "/workspace", options?: CallOptions): Promise<DirectoryListing> {
    requireText("path", path);
    const init = { params: { query: { path } }, ...callInit(options) };
    return readBody(this.#access.client.GET("/files/list", init), (listing) => {
      const entries = (listing.files ?? []).filter((entry) => entry !== null).map(fileEntry);
      return {
        path: listing.path ?? path,
        entries,
        total: listing.total ?? entries.length,
        truncated: listing.truncated ?? false,
      };
    });
  }

  /**
   * Watches a directory and the directories below it (WebSocket /files/watch): `await watch.ready()`, then `for await
   * (const { event, path } of watch)`. The first of the two starts the watch. Symbolic links are not followed.
   */
  watch(path: string, options: WatchOptions = {}): FileWatch {
    return FileWatch.of(this.#access, path, options, this.#requestTimeout);
  }

  /**
   * Yields everything below a directory, sorted by name within each directory (GET /files/list, once per directory).
   * Symbolic links are not followed. Rejects with code LISTING_TRUNCATED at a directory with more entries than the server
   * lists.
   */
  async *walk(path = "/workspace", options?: CallOptions): AsyncGenerator<FileEntry, void, undefined> {
    const listing = await this.list(path, options);
    if (listing.truncated) throw truncated(listing);
    for (const entry of listing.entries) {
      yield entry;
      if (entry.isDirectory && !entry.isSymlink) yield* this.walk(entry.path, options);
    }
  }

  /**
   * Describes one file or directory (GET /files/stat). On servers without that operation, such as the cloud, finds it in
   * the listing of its directory (GET /files/list).
   */
  async stat(path: string, options?: CallOptions): Promise<FileEntry> {
    requireText("path", path);
    const init = { params: { query: { path } }, ...callInit(options) };
    try {
      return await readBody(this.#access.client.GET("/files/stat", init), fileEntry, "name", "path", "size");
    } catch (error) {
      if (!(error instanceof NotFoundError) || error.code !== "NOT_FOUND") throw error;
      const whole = path.startsWith("/") ? path : `/workspace/${path}`;
      const names = whole.split("/").filter((name) => name !== "" && name !== ".");
      const name = names.pop() ?? "";
      // /workspace and /tmp have no readable parent directory: list the directory itself.
      if (names.length === 0) return root((await this.list(`/${name}`, options)).path);
      const { entries } = await this.list(`/${names.join("/")}`, options);
      const entry = entries.find((each) => each.name === name);
      if (entry === undefined) throw noEntry(path);
      return entry;
    }
  }

  /**
   * Moves or renames a file or directory (POST /files/rename). `newPath` is the full new path, not the directory to move
   * into. If `newPath` exists, throws a `ConflictError`, unless `overwrite` is true and both are files. An extension,
   * which not every server has.
   */
  async rename(
    path: string,
    newPath: string,
    options: CallOptions & { overwrite?: boolean | undefined } = {},
  ): Promise<void> {
    checkKnown("files.rename", options, { ...callOptionNames, overwrite: true });
    requireText("path", path);
    requireText("newPath", newPath);
    checkBoolean("overwrite", options.overwrite);
    const body = { path, new_path: newPath, overwrite: options.overwrite ?? false };
    await successOf(this.#access.client.POST("/files/rename", { body, ...requestInit(options) }));
  }

  /**
   * Uploads a local file of any size in constant memory (POST /files/upload). Node.js only, as are `download`,
   * `uploadDirectory` and `downloadDirectory`. Rejects with code LOCAL_FILE_FAILED if the local file cannot be used.
   */
  async upload(localPath: string, path: string, options: TransferOptions = {}): Promise<WrittenFile> {
    checkKnown("files.upload", options, transferOptionNames);
    checkTransfer(path, options);
    const requestTimeoutSeconds = options.requestTimeoutSeconds ?? this.#requestTimeout;
    return {
      path,
      size: await (await localFiles()).uploadFile(this.#access, localPath, path, {
        ...options,
        requestTimeoutSeconds,
      }),
    };
  }

  /**
   * Downloads a file of any size to this machine in constant memory (GET /files/download). `localPath` appears only once
   * the file is complete. Replaces a file, which keeps its mode; follows links, also to a file that does not exist yet.
   * Rejects with code LOCAL_FILE_FAILED if `localPath` is a directory, a device or a pipe. Resolves with the size in bytes.
   */
  async download(path: string, localPath: string, options?: TransferOptions): Promise<number> {
    checkKnown("files.download", options, transferOptionNames);
    checkTransfer(path, options);
    return this.#access.background.during(async () =>
      (await localFiles()).downloadFile(this.#access, path, localPath, options),
    );
  }

  /**
   * Uploads the contents of a local directory, with modes, dates and links, as a gzipped tar. The template must have bash
   * and tar. What cannot be uploaded is left out and listed in `skipped`: pipes, sockets, devices, what may not be read, and
   * names that are not UTF-8.
   */
  async uploadDirectory(
    localPath: string,
    path: string,
    options: DirectoryUploadOptions = {},
  ): Promise<DirectoryTransfer> {
    checkKnown("files.uploadDirectory", options, { ...transferOptionNames, exclude: true });
    checkTransfer(path, options);
    checkFunction("exclude", options.exclude);
    const requestTimeoutSeconds = options.requestTimeoutSeconds ?? this.#requestTimeout;
    const whole = { ...options, requestTimeoutSeconds };
    const access = this.#access;
    return access.background.during(async () =>
      (await localFiles()).uploadDirectory(access, this.#commands, localPath, path, whole),
    );
  }

  /**
   * Downloads the contents of a directory as a gzipped tar and unpacks it below `localPath`. What cannot be downloaded is left
   * out and listed in `skipped`: names and links that lead outside `localPath`, such as a Python environment's link to its
   * interpreter, because code in the sandbox controls the archive; pipes, sockets, devices, what may not be read, and names that
   * are not UTF-8.
   */
  async downloadDirectory(
    path: string,
    localPath: string,
    options?: DirectoryDownloadOptions,
  ): Promise<DirectoryTransfer> {
    checkKnown("files.downloadDirectory", options, { ...transferOptionNames, maxBytes: true });
    checkTransfer(path, options);
    checkWhole("maxBytes", options?.maxBytes, 1);
    const access = this.#access;
    return access.background.during(async () =>
      (await localFiles()).downloadDirectory(access, this.#commands, path, localPath, options),
    );
  }

  /** Whether a path exists (GET /files/exists). */
  async exists(path: string, options?: CallOptions): Promise<boolean> {
    requireText("path", path);
    const init = { params: { query: { path } }, ...callInit(options) };
    return (await bodyOf(this.#access.client.GET("/files/exists", init), "exists")).exists;
  }

  /** Deletes a file, or a directory with its contents (DELETE /files/remove). */
  async remove(path: string, options?: CallOptions): Promise<void> {
    requireText("path", path);
    const init = { params: { query: { path } }, ...callInit(options) };
    await successOf(this.#access.client.DELETE("/files/remove", init));
  }

  /** Creates a directory and its parents (POST /files/mkdir). Succeeds if the directory exists. */
  async mkdir(path: string, options?: CallOptions): Promise<void> {
    requireText("path", path);
    await successOf(this.#access.client.POST("/files/mkdir", { body: { path }, ...callInit(options) }));
  }

  /** Call options whose timeout includes the time to send `size` bytes over a slow connection. */
  #transferInit(options: CallOptions, size: number): CallInit {
    return requestInit(options, this.#requestTimeout + size / slowestTransfer);
  }
}

/** Files of this machine: loaded when used, because only Node.js has them. */
const localFiles = () => import("./local-files.js");

function checkMode(mode: unknown): void {
  if (mode === undefined || (typeof mode === "string" && /^0?[0-7]{3}$/.test(mode))) return;
  throw invalidArgument('mode must be octal permissions as text, such as "0644".');
}

function checkTransfer(path: string, options: TransferOptions = {}): void {
  requireText("path", path);
  checkFunction("onProgress", options.onProgress);
}

/**
 * The most characters of a text that is sent inside JSON. Longer texts are uploaded as files, so that the server need
 * not hold them in memory.
 */
const longestInlineText = 256 * 1024;

function onlyForText(): ValidationError {
  return invalidArgument(
    "This server takes mode and overwrite only for text.",
    "Write the bytes without them, then set the permissions with commands.run(`chmod …`).",
  );
}
