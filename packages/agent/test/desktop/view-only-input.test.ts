import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { ViewOnlyInput } from "../../src/desktop/view-only-input.js";

const greeting = Buffer.from("RFB 003.008\n\x01\x01", "latin1");
const bytes = (...values: number[]) => Buffer.from(values);
const padded = (length: number, ...first: number[]) => Buffer.concat([bytes(...first)], length);

const looking: readonly [string, Buffer][] = [
  ["a format", padded(20, 0)],
  ["encodings", padded(4 + 8, 2, 0, 0, 2)],
  ["a request for an update", padded(10, 3)],
  ["continuous updates", padded(10, 150)],
  ["a fence", padded(9 + 3, 248, 0, 0, 0, 0, 0, 0, 0, 3)],
];
const acting: readonly [string, Buffer][] = [
  ["a key", padded(8, 4, 1)],
  ["the pointer", padded(6, 5, 1)],
  ["a clipboard", padded(8 + 5, 6, 0, 0, 0, 0, 0, 0, 5)],
  ["an extended clipboard", padded(8 + 5, 6, 0, 0, 0, 0xff, 0xff, 0xff, 0xfb)],
  ["a shutdown", padded(4, 250)],
  ["a size", padded(8 + 16, 251, 0, 0, 0, 0, 0, 1)],
  ["a key of QEMU", padded(12, 255)],
];

/** What passes of these pieces. */
async function passed(pieces: readonly Buffer[]): Promise<Buffer> {
  const input = new ViewOnlyInput();
  for (const piece of pieces) input.write(piece);
  input.end();
  return Buffer.concat(await input.toArray());
}

describe("a viewer that only looks", () => {
  test.each(looking)("sends %s", async (_, message) => {
    expect(await passed([greeting, message])).toEqual(Buffer.concat([greeting, message]));
  });

  test.each(acting)("does not send %s", async (_, message) => {
    const [, request = Buffer.alloc(0)] = looking[2] ?? [];
    expect(await passed([greeting, message, request])).toEqual(Buffer.concat([greeting, request]));
  });

  test("sends the same in pieces of any size", async () => {
    const all = Buffer.concat([
      greeting,
      ...[...looking, ...acting, ...looking].map(([, message]) => message),
    ]);
    const expected = Buffer.concat([greeting, ...[...looking, ...looking].map(([, message]) => message)]);
    for (const size of [1, 2, 7, 1000]) {
      const pieces: Buffer[] = [];
      for (let at = 0; at < all.length; at += size) pieces.push(all.subarray(at, at + size));
      expect(await passed(pieces)).toEqual(expected);
    }
  });

  test("passes each part of the greeting on at once, because the server waits for it", async () => {
    const input = new ViewOnlyInput();
    input.write(greeting.subarray(0, 12));
    expect(await once(input, "data")).toEqual([greeting.subarray(0, 12)]);
  });

  test.each([
    ["another version", Buffer.from("RFB 003.003\n")],
    ["an unknown message", Buffer.concat([greeting, bytes(99)])],
    ["a message without an end", Buffer.concat([greeting, padded(8, 6, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff)])],
  ])("is cut off with %s", async (_, sent) => {
    await expect(passed([sent])).rejects.toThrow(/A viewer/);
  });
});
