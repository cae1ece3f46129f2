import { constants } from "node:fs";
import { open } from "node:fs/promises";

const { O_NONBLOCK, O_RDONLY } = constants;

/** Bytes to read at once. Most system files fit in one chunk, and all of them in `maxBytes`. */
const chunkBytes = 8 * 1024;
const maxBytes = 256 * 1024;

/**
 * Reads a file of the kernel or the distribution as text. Empty if it cannot be read. Programs in the sandbox may have
 * replaced the file, so a FIFO is not waited for, and at most about `maxBytes` are read.
 */
export async function readSystemFile(path: string): Promise<string> {
  try {
    await using file = await open(path, O_RDONLY | O_NONBLOCK);
    if (!(await file.stat()).isFile()) return "";
    const parts: Buffer[] = [];
    // Files of the kernel report no size and may arrive in several pieces.
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
