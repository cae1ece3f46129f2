import { executeStreamFrame, terminalFrame, watchFrame } from "@cloud-sandbox/protocol";
import { describe, expect, test } from "vitest";
import { executeFrames, terminalFrames, watchFrames } from "../../src/streams/frames.js";
import { hasFields, type RequiredFields } from "../../src/transport/answer-fields.js";

const samples = { string: "created", number: 1, boolean: true };

const frames = [
  ...Object.entries(executeFrames).map((entry) => [...entry, executeStreamFrame] as const),
  ...Object.entries(terminalFrames).map((entry) => [...entry, terminalFrame] as const),
  ...Object.entries(watchFrames).map((entry) => [...entry, watchFrame] as const),
];

describe("the fields that the client requires in a frame are those that the protocol requires", () => {
  test.each(frames)("%s", (type, fields: RequiredFields, schema) => {
    const whole = {
      type,
      ...Object.fromEntries(Object.entries(fields).map(([name, kind]) => [name, samples[kind]])),
    };
    expect(schema.safeParse(whole).success).toBe(true);
    expect(hasFields(whole, fields)).toBe(true);
    for (const name of Object.keys(fields)) {
      for (const other of [undefined, null, {}]) {
        const bent = { ...whole, [name]: other };
        expect(schema.safeParse(bent).success).toBe(false);
        expect(hasFields(bent, fields)).toBe(false);
      }
    }
  });
});
