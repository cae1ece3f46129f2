import { localFailure, nodeModules } from "../config/node-modules.js";
import { invalidArgument } from "../errors/errors.js";
import { readAhead } from "../transport/http/transport.js";

/**
 * A local file as a `Blob` that is read while it is sent. Its async iterator reads the file directly, which takes half
 * the time of the `Blob`'s own stream.
 */
export async function localBlob(path: string): Promise<Blob> {
  const { fs } = nodeModules();
  try {
    // Check for a directory first: the error of `openAsBlob` does not name the file.
    if ((await fs.promises.stat(path)).isDirectory()) throw invalidArgument(`${path} is a directory.`);
    const blob = await fs.openAsBlob(path);
    return Object.assign(blob, { [Symbol.asyncIterator]: () => bytesOfFile(path, blob.size) });
  } catch (error) {
    throw localFailure(error);
  }
}

const pieceSize = 256 * 1024;
/**
 * Buffers in rotation: those read ahead, one in the socket, one being filled, and spares. New buffers for each read would
 * be gigabytes of garbage.
 */
const buffers = readAhead / pieceSize + 4;

/**
 * Yields the file's bytes in reused buffers. Safe because the consumer holds at most `readAhead` bytes, fewer than the
 * buffers hold.
 */
async function* bytesOfFile(path: string, size: number): AsyncGenerator<Uint8Array> {
  const { fs } = nodeModules();
  try {
    const file = await fs.promises.open(path);
    try {
      const ring = Array.from({ length: buffers }, () => new Uint8Array(pieceSize));
      let read = 0;
      while (read < size) {
        const buffer = ring.shift() ?? new Uint8Array(pieceSize);
        const { bytesRead } = await file.read(buffer, 0, Math.min(pieceSize, size - read), read);
        if (bytesRead === 0) throw new Error(`${path} became shorter`);
        read += bytesRead;
        yield buffer.subarray(0, bytesRead);
        ring.push(buffer);
      }
    } finally {
      await file.close();
    }
  } catch (error) {
    throw localFailure(error);
  }
}
