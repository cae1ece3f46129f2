import { Problem } from "@cloud-sandbox/server-kit";
import { Parser, type ReadEntry } from "tar";
import { invalidImage, quoted } from "./image-problems.js";

export interface TarEntry {
  readonly path: string;
  readonly type: string;
  readonly size: number;
  readonly mode: number;
  readonly modified: Date | undefined;
  readonly linkTarget: string;
}

/** Receives the content of an entry. */
export interface ContentSink {
  write(chunk: Buffer): void;
  /** All of the content was written. */
  end(): void;
  /** Releases what the sink holds, after {@link end} or in place of it. */
  close(): void;
}

/**
 * Reads a tar and calls `onEntry` for each entry, in order, and its sink with the content. Everything happens in the call
 * that brought the bytes, so nothing is buffered, and an error of either ends the reading.
 *
 * @throws a 400 problem that calls the tar `name` if it is no tar, is truncated, or has something that would be read wrongly.
 */
export async function readTar(
  source: AsyncIterable<Buffer>,
  name: string,
  onEntry: (entry: TarEntry) => ContentSink | undefined,
): Promise<void> {
  let failure: unknown;
  let open: ContentSink | undefined;
  let isFirst = true;
  const fail = (error: unknown): void => {
    failure ??= error;
  };
  const parser = new Parser({ strict: true, brotli: false, zstd: false });
  // The library takes a tar without entries for no tar. Images have such layers.
  let isEmpty = false;
  parser.on("eof", () => {
    isEmpty = true;
  });
  parser.on("entry", () => {
    isEmpty = false;
  });
  parser.on("error", (error: Error) => {
    if (!(isEmpty && error.message.includes("Unrecognized archive format")))
      fail(unreadable(name, error.message));
  });
  // The library reads a sparse file as if it had no holes.
  parser.on("meta", (text: string) => {
    if (/^\d+ GNU\.sparse\./m.test(text)) fail(sparse(name));
  });
  parser.on("ignoredEntry", ({ type, path }: ReadEntry) =>
    fail(
      type === "SparseFile"
        ? sparse(name)
        : invalidImage(`${name} has an entry of unknown type ${quoted(String(type))}: ${quoted(path)}.`),
    ),
  );
  parser.on("entry", (entry: ReadEntry) => {
    const sink = attempt(() => onEntry(factsOf(entry)));
    open = sink;
    entry.on("data", (chunk: Buffer) => attempt(() => sink?.write(chunk)));
    entry.on("end", () => attempt(() => sink?.end()));
  });
  function attempt<Result>(action: () => Result): Result | undefined {
    if (failure !== undefined) return undefined;
    try {
      return action();
    } catch (error) {
      fail(error);
      return undefined;
    }
  }

  try {
    for await (const chunk of source) {
      if (isFirst && isCompressed(chunk))
        throw invalidImage(`${name} is compressed in a way that is not read here, or twice.`);
      isFirst = false;
      parser.write(chunk);
      if (failure !== undefined) break;
    }
    if (failure === undefined) parser.end();
  } catch (error) {
    fail(readingFailure(name, error));
  } finally {
    (open as ContentSink | undefined)?.close();
  }
  if (failure !== undefined) throw failure;
}

export function isCompressed(start: Buffer): boolean {
  return compressionOf(start) !== undefined;
}

/** Recognizes the compression of a stream by its first bytes. */
export function compressionOf(start: Buffer): "gzip" | "zstd" | undefined {
  if (start[0] === 0x1f && start[1] === 0x8b) return "gzip";
  return start.subarray(0, 4).equals(Buffer.from([0x28, 0xb5, 0x2f, 0xfd])) ? "zstd" : undefined;
}

function factsOf({ path, type, size, mode = 0o644, mtime, linkpath = "" }: ReadEntry): TarEntry {
  return { path, type, size, mode, modified: mtime, linkTarget: linkpath };
}

/** Errors of zlib are the archive's fault. Others, such as a full disk or a client that has left, are not. */
function readingFailure(name: string, error: unknown): unknown {
  if (error instanceof Problem || !(error instanceof Error)) return error;
  const { code = "" } = error as NodeJS.ErrnoException;
  return /^Z_|^ZSTD_|ERR_BUFFER/.test(code) ? unreadable(name, error.message) : error;
}

const unreadable = (name: string, reason: string): Problem =>
  invalidImage(
    `${name} is not a tar, or is damaged: ${reason.replace(/^TAR_\w+: /, "").replace(/\.?$/, ".")}`,
  );

const sparse = (name: string): Problem =>
  invalidImage(`${name} has sparse files, which are not read here.`, "Pack it without --sparse.");
