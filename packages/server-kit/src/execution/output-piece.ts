import { isUtf8 } from "node:buffer";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import type { OutputPiece } from "../handlers/agent/background-operations.js";

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/**
 * Turns bytes read for `asked.offset` into text, and where they are no text into base64 too. Leaves out a last character whose remaining bytes have not been
 * written yet.
 */
export function outputPiece(
  { start, bytes }: { readonly start: number; readonly bytes: Buffer },
  asked: { readonly offset: number; readonly total: number; readonly isComplete: boolean },
): OutputPiece {
  const first = start > asked.offset ? withoutPartialStart(bytes) : bytes;
  const from = start + bytes.length - first.length;
  const isLast = from + first.length >= asked.total;
  const whole = isLast && asked.isComplete ? first : withoutPartialEnd(first);
  // The piece is only part of a character whose remaining bytes were dropped. Return it anyway (as U+FFFD), or the
  // reader would never advance.
  const read = whole.length === 0 && !isLast ? first : whole;
  const raw = isUtf8(read) ? {} : { base64: read.toString("base64") };
  return { text: read.toString(), ...raw, start: from, end: from + read.length };
}

/**
 * Reads part of a file. Undefined if the file is gone, too short, or not a regular file any more: programs in the
 * sandbox may change it.
 */
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

/** Removes a last UTF-8 character that is cut off. */
export function withoutPartialEnd(bytes: Buffer): Buffer {
  let start = bytes.length - 1;
  while (start > bytes.length - 4 && isContinuation(bytes[start])) start -= 1;
  const lead = bytes[start] ?? 0;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return start + length > bytes.length ? bytes.subarray(0, start) : bytes;
}

/** Removes the remaining bytes of a first UTF-8 character whose beginning is cut off. */
export function withoutPartialStart(bytes: Buffer): Buffer {
  let start = 0;
  while (start < 3 && isContinuation(bytes[start])) start += 1;
  return bytes.subarray(start);
}
