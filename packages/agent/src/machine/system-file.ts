import { constants } from "node:fs";
import { open } from "node:fs/promises";

const { O_NONBLOCK, O_RDONLY } = constants;

/** Bytes: most of them take less than the first, and all less than the second. */
const chunkBytes = 8 * 1024;
const maxBytes = 256 * 1024;

/**
 * The text of a file in which the kernel or the distribution says something; empty without one. Where the sandbox's programs
 * can put something else in its place, that is not waited for, as a pipe would be, nor read without end.
 */
export async function readSystemFile(path: string): Promise<string> {
  try {
    await using file = await open(path, O_RDONLY | O_NONBLOCK);
    if (!(await file.stat()).isFile()) return "";
    const parts: Buffer[] = [];
    // The kernel's own tell no size, and may come in pieces.
    for (let length = 0; length < maxBytes; ) {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(chunkBytes), 0, chunkBytes);
      if (bytesRead === 0) break;
      length += bytesRead;
      parts.push(buffer.subarray(0, bytesRead));
    }
    return Buffer.concat(parts).toString();
  } catch {
    return "";
  }
}
