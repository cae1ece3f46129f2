import fc from "fast-check";
import type { Schema } from "../support/documents/contract-document.js";
import { oddValues } from "./bends.js";
import type { SchemaArbitraries } from "./schema-arbitrary.js";

export type Message = string | Uint8Array<ArrayBuffer>;

/** Messages that a client may send over a WebSocket: frames of the contract, and anything else. */
export function conversations(schema: Schema, arbitraries: SchemaArbitraries): fc.Arbitrary<Message[]> {
  const documented = arbitraries.value(schema).map((frame) => JSON.stringify(frame));
  const changed = fc
    .tuple(arbitraries.value(schema), fc.nat(9), fc.constantFrom(...oddValues))
    .map(([frame, at, value]) => {
      const names = Object.keys(frame as object);
      return JSON.stringify({ ...(frame as object), [names[at % names.length] ?? "type"]: value });
    });
  const other = fc.oneof(
    fc.constantFrom(...oddValues).map((value) => JSON.stringify(value)),
    fc.constantFrom("", "{", "not json", "x".repeat(100_000), "[".repeat(10_000)),
    fc.uint8Array({ maxLength: 64 }).map((bytes) => Uint8Array.from(bytes)),
  );
  const message = fc.oneof(
    { arbitrary: documented, weight: 3 },
    { arbitrary: changed, weight: 2 },
    { arbitrary: other, weight: 2 },
  );
  return fc.array(message, { minLength: 1, maxLength: 4 });
}
