import { Readable } from "node:stream";
import { Header } from "tar";

/** One file, directory or symbolic link of a tar. Its owner is root, unless `uid` says otherwise. */
export interface TarEntry {
  /** The path without a leading slash, at most 100 bytes. */
  readonly path: string;
  readonly mode: number;
  readonly uid?: number;
  /** The content of a file; undefined for a directory and a link. */
  readonly file?: Uint8Array | string;
  /** The target of a symbolic link. */
  readonly link?: string;
}

const block = 512;

/**
 * Packs entries as a tar. The library packs files of this machine only, and an ordinary user has none that belong to root; the
 * headers are the library's.
 */
export function packTar(entries: readonly TarEntry[]): Readable {
  return Readable.from(blocks(entries), { objectMode: false });
}

function* blocks(entries: readonly TarEntry[]): Generator<Buffer> {
  for (const entry of entries) {
    const content = Buffer.from(entry.file ?? "");
    yield header(entry, content.length);
    if (content.length === 0) continue;
    yield content;
    yield Buffer.alloc((block - (content.length % block)) % block);
  }
  yield Buffer.alloc(2 * block);
}

function header({ path, mode, uid = 0, file, link }: TarEntry, size: number): Buffer {
  const bytes = Buffer.alloc(block);
  const type = link !== undefined ? "SymbolicLink" : file === undefined ? "Directory" : "File";
  const fields = { path, mode, uid, gid: uid, size, type, mtime: new Date(0) } as const;
  const isTooLong = new Header({ ...fields, ...(link !== undefined && { linkpath: link }) }).encode(bytes, 0);
  if (isTooLong) throw new Error(`The path ${path} or its link is too long for a tar.`);
  return bytes;
}

/** The content of a tar's first entry; undefined if that is no regular file. */
export function firstFileOfTar(tar: Buffer): Buffer | undefined {
  if (tar.length < block) return undefined;
  const { type, size = 0 } = new Header(tar, 0);
  return type === "File" || type === "OldFile" ? tar.subarray(block, block + size) : undefined;
}
