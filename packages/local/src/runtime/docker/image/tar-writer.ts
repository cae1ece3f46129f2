import { Readable } from "node:stream";

/** One file or directory of a tar. Its owner is root, unless `uid` says otherwise. */
export interface TarEntry {
  /** The path without a leading slash, at most 100 bytes. */
  readonly path: string;
  readonly mode: number;
  readonly uid?: number;
  /** The content of a file; the target of a symbolic link. Undefined for a directory. */
  readonly file?: Uint8Array | string;
  readonly link?: string;
}

const block = 512;

/**
 * Packs entries as a tar. The `tar` program cannot do this for an ordinary user: some files must belong to root, and others
 * must be unreadable, also for the user who packs them.
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
  if (Buffer.byteLength(path) > 100) throw new Error(`The path ${path} is too long for a tar.`);
  const bytes = Buffer.alloc(block);
  const octal = (value: number, offset: number, length: number): void => {
    bytes.write(`${value.toString(8).padStart(length - 1, "0")}\0`, offset);
  };
  bytes.write(path, 0);
  octal(mode, 100, 8);
  octal(uid, 108, 8);
  octal(uid, 116, 8);
  octal(size, 124, 12);
  octal(0, 136, 12);
  bytes.write("        ", 148);
  bytes.write(link !== undefined ? "2" : file === undefined ? "5" : "0", 156);
  if (link !== undefined) bytes.write(link, 157);
  bytes.write("ustar\x0000", 257, "latin1");
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  bytes.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return bytes;
}

/** The content of the first regular file of a tar; undefined if its first entry is something else. */
export function firstFileOfTar(tar: Buffer): Buffer | undefined {
  const type = tar.toString("latin1", 156, 157);
  if (tar.length < block || (type !== "0" && type !== "\0")) return undefined;
  const size = Number.parseInt(tar.toString("latin1", 124, 135), 8);
  return tar.subarray(block, block + size);
}
