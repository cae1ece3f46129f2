import { Problem } from "@cloud-sandbox/server-kit";
import parse from "range-parser";

/** Positions of the first and the last byte, both included. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Parses a `Range` header. Undefined means the whole file: there is no header, it is malformed, or it asks for
 * several ranges, which HTTP allows a server to ignore. Throws a 416 problem if the range is outside the file.
 */
export function byteRange(header: string | undefined, size: number): ByteRange | undefined {
  if (header === undefined) return undefined;
  const ranges = parse(size, header);
  if (ranges === -1)
    throw new Problem(416, "INVALID_REQUEST", `The file has ${size} bytes: ask for a range within them.`, {
      headers: { "content-range": `bytes */${size}` },
    });
  if (ranges === -2 || ranges.type !== "bytes" || ranges.length !== 1) return undefined;
  return ranges[0];
}
