import fc from "fast-check";
import { expect, test } from "vitest";
import { GatheredBytes } from "../src/gathered-bytes.js";

test("holds what was added and not dropped, whatever the pieces are", () => {
  const step = fc.oneof(fc.uint8Array({ maxLength: 3000 }), fc.nat({ max: 3000 }));
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const gathered = new GatheredBytes();
      let expected: readonly number[] = [];
      for (const each of steps) {
        if (typeof each === "number") {
          const count = Math.min(each, expected.length);
          gathered.drop(count);
          expected = expected.slice(count);
        } else {
          gathered.add(each);
          expected = [...expected, ...each];
        }
        expect([...gathered.bytes]).toEqual(expected);
        expect(gathered.length).toBe(expected.length);
      }
    }),
    { numRuns: 200 },
  );
});

test("leaves bytes that were read as they are", () => {
  const gathered = new GatheredBytes();
  gathered.add(Uint8Array.of(1, 2));
  gathered.add(Uint8Array.of(3, 4));
  const { bytes } = gathered;
  gathered.drop(4);
  gathered.add(Uint8Array.of(5, 6));
  gathered.add(Uint8Array.of(7, 8));
  expect([...bytes]).toEqual([1, 2, 3, 4]);
});

test("takes at most twice the room of its bytes, however small the pieces are", () => {
  const gathered = new GatheredBytes();
  const size = 1024 * 1024;
  for (let at = 0; at < size; at += 1) gathered.add(Uint8Array.of(at % 256));
  expect(gathered.length).toBe(size);
  expect(gathered.bytes.buffer.byteLength).toBeLessThanOrEqual(2 * size);
});
