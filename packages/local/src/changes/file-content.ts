import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import type { BytePath } from "./byte-path.js";
import type { OpenDirectory } from "./open-directory.js";

const buffer = Buffer.allocUnsafe(1024 * 1024);

/** Largest file that is read, in bytes. A sparse file has its whole size. */
export const largestFile = 256 * 1024 * 1024;

/** A regular file was expected, that stays the same while it is read, of at most {@link largestFile} bytes. */
export class UnreadableFileError extends Error {}

/**
 * Reads a regular file piece by piece. A link is not followed, and a pipe without a writer is not waited for. Throws an
 * {@link UnreadableFileError}.
 */
export function readPieces(directory: OpenDirectory, name: BytePath, onPiece: (piece: Buffer) => void): void {
  const file = openSync(directory.at(name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const before = fstatSync(file, { bigint: true });
    if (!before.isFile()) throw new UnreadableFileError("it is no regular file");
    if (before.size > largestFile)
      throw new UnreadableFileError(`it is larger than ${largestFile / 1024 / 1024} MiB`);
    let size = 0;
    for (;;) {
      const length = readSync(file, buffer);
      if (length === 0) break;
      size += length;
      if (size > largestFile) break;
      onPiece(buffer.subarray(0, length));
    }
    const after = fstatSync(file, { bigint: true });
    if (BigInt(size) !== after.size || after.mtimeNs !== before.mtimeNs || after.ctimeNs !== before.ctimeNs)
      throw new UnreadableFileError("it changed while it was read");
  } finally {
    closeSync(file);
  }
}

/** SHA-256 of a file's content, in hexadecimal. */
export function digestOf(directory: OpenDirectory, name: BytePath): string {
  const hash = createHash("sha256");
  readPieces(directory, name, (piece) => hash.update(piece));
  return hash.digest("hex");
}

/** SHA-256 of a link's target. */
export const digestOfTarget = (target: BytePath): string =>
  createHash("sha256").update(target, "latin1").digest("hex");
