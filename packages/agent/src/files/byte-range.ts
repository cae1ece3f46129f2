import { Problem } from "@cloud-sandbox/server-kit";
import parse from "range-parser";

/** The first and the last byte. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** What a `Range` header asks of a file. Undefined, the whole file, where it asks for nothing that HTTP lets us serve. */
export function byteRange(header: string | undefined, size: number): ByteRange | undefined {
  if (header === undefined) return undefined;
  const ranges = parse(size, header);
  if (ranges === -1)
    throw new Problem(
      416,
      "INVALID_REQUEST",
      `The file has ${size} bytes: ask for a range that lies in them.`,
      {
        headers: { "content-range": `bytes */${size}` },
      },
    );
  if (ranges === -2 || ranges.type !== "bytes" || ranges.length !== 1) return undefined;
  return ranges[0];
}
