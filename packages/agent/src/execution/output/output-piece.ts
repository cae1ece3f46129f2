import { constants } from "node:fs";
import { open } from "node:fs/promises";
import type { OutputPiece } from "@cloud-sandbox/server-kit/handlers";

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/** What was read for `offset`, without a last character whose rest is still to come. */
export function outputPiece(
  { start, bytes }: { readonly start: number; readonly bytes: Buffer },
  asked: { readonly offset: number; readonly total: number; readonly isComplete: boolean },
): OutputPiece {
  const first = start > asked.offset ? withoutPartialStart(bytes) : bytes;
  const from = start + bytes.length - first.length;
  const isLast = from + first.length >= asked.total;
  const whole = isLast && asked.isComplete ? first : withoutPartialEnd(first);
  // A character whose rest is lost must not keep the reader from going on.
  const read = whole.length === 0 && !isLast ? first : whole;
  return { text: read.toString(), start: from, end: from + read.length };
}

/** Nothing when the file is gone, or not as it was left: the sandbox's programs can do that to it. */
export async function readRange(path: string, offset: number, length: number): Promise<Buffer | undefined> {
  try {
    await using file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, offset);
    return bytesRead > 0 ? buffer.subarray(0, bytesRead) : undefined;
  } catch {
    return undefined;
  }
}

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80;

/** Without the first bytes of a character whose rest was cut off. */
export function withoutPartialEnd(bytes: Buffer): Buffer {
  let start = bytes.length - 1;
  while (start > bytes.length - 4 && isContinuation(bytes[start])) start -= 1;
  const lead = bytes[start] ?? 0;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return start + length > bytes.length ? bytes.subarray(0, start) : bytes;
}

/** Without the last bytes of a character whose beginning was cut off. */
export function withoutPartialStart(bytes: Buffer): Buffer {
  let start = 0;
  while (start < 3 && isContinuation(bytes[start])) start += 1;
  return bytes.subarray(start);
}
