import { invalidArgument, isSandboxError, SandboxError } from "../errors/errors.js";
import { nodeModules } from "./node-modules.js";

/** Where the bytes of a Blob are: reading the file itself takes half of the time. */
const paths = new WeakMap<Blob, string>();

/** A file as a `Blob` that is read while it is sent. */
export async function localBlob(path: string): Promise<Blob> {
  const { fs } = nodeModules();
  try {
    // What openAsBlob throws does not name the file.
    if ((await fs.promises.stat(path)).isDirectory()) throw invalidArgument(`${path} is a directory.`);
    const blob = await fs.openAsBlob(path);
    paths.set(blob, path);
    return blob;
  } catch (error) {
    throw localFailure(error);
  }
}

/** For a stream that holds back as much as `readAhead` and is not read faster than it is sent: a piece is used again. */
export function piecesOf(blob: Blob): AsyncIterable<Uint8Array> {
  const path = paths.get(blob);
  return path === undefined ? blob.stream() : piecesOfFile(path, blob.size);
}

/** Bytes that are read while those before them are sent. */
export const readAhead = 512 * 1024;
const pieceSize = 256 * 1024;
/** Read ahead, one more in the socket and one that is being read; fresh ones would be garbage by the gigabyte. */
const buffers = readAhead / pieceSize + 4;

async function* piecesOfFile(path: string, size: number): AsyncGenerator<Uint8Array> {
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

/** What this machine's files did, in this client's terms. */
export function localFailure(error: unknown): SandboxError {
  if (isSandboxError(error)) return error;
  return new SandboxError({
    summary: `A local file cannot be used: ${error instanceof Error ? error.message : String(error)}.`,
    hint: "Check its path and permissions, and that nothing changes it meanwhile.",
    code: "LOCAL_FILE_FAILED",
    cause: error,
  });
}
