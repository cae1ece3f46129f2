import { describe, expect, it } from "vitest";
import {
  bytesMissing,
  cutMiddle,
  firstEntries,
  limitCharacters,
  shareBudget,
} from "../../src/results/output-limit.js";

const inJson = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2;

describe("cutMiddle", () => {
  it.each([
    ["nothing", ""],
    ["text that just fits", "x".repeat(100)],
    ["text that fits in bytes, not only in characters", "é".repeat(50)],
  ])("leaves %s as it is", (_, text) => {
    expect(cutMiddle(text, 100)).toEqual({ text, totalBytes: Buffer.byteLength(text), omittedBytes: 0 });
  });

  it("keeps head and tail, and says how many bytes are missing", () => {
    const { text, totalBytes, omittedBytes } = cutMiddle(`head${"x".repeat(1000)}tail`, 100);
    expect(text).toBe(`head${"x".repeat(46)}\n[… 908 of 1008 bytes left out …]\n${"x".repeat(46)}tail`);
    expect({ totalBytes, omittedBytes }).toEqual({ totalBytes: 1008, omittedBytes: 908 });
  });

  it("counts all that was written, even if it has only a part", () => {
    expect(cutMiddle("x".repeat(1000), 100, 4_999_000)).toMatchObject({
      totalBytes: 5_000_000,
      omittedBytes: 4_999_900,
    });
  });

  it.each([
    ["emoji", "🙂"],
    ["two-byte letters", "é"],
    ["CJK", "語"],
    ["quotes", '"'],
    ["control characters", "\u0001"],
    ["newlines", "\n"],
    ["lone surrogates", "\ud83d"],
  ])("never cuts %s in half nor exceeds the budget in JSON", (_, character) => {
    const { text, omittedBytes } = cutMiddle(character.repeat(5000), 1001);
    const kept = text.replace(/\n\[… .* …\]\n/, "");
    expect(inJson(kept)).toBeLessThanOrEqual(1001);
    expect(inJson(kept)).toBeGreaterThan(1001 - 2 * inJson(character) - 1);
    expect(kept.replaceAll(character, "")).toBe("");
    expect(omittedBytes).toBe(
      Buffer.byteLength(character.repeat(5000)) - 2 * Buffer.byteLength(kept.slice(0, kept.length / 2)),
    );
  });
});

it.each([
  ["a text that was cut", "x".repeat(1000), 5_000_000, 4_999_000],
  ["a text that is whole", "é", 2, 0],
  ["bytes that are no UTF-8", "\ufffd".repeat(1000), 1000, 0],
  ["a text of a server that does not say", "x", undefined, 0],
])("the bytes that are missing of %s are known", (_, text, bytes, missing) => {
  expect(bytesMissing(text, { bytes })).toBe(missing);
});

describe("shareBudget", () => {
  it.each([
    ["both small", 10, 10, [50, 90]],
    ["first long, second short", 500, 20, [80, 50]],
    ["first short, second long", 20, 500, [50, 80]],
    ["both long", 500, 500, [50, 50]],
  ])("%s", (_, first, second, expected) => {
    const shares = shareBudget("x".repeat(first), "y".repeat(second), 100);
    expect(shares).toEqual(expected);
  });
});

describe("firstEntries", () => {
  const entries = [{ name: "a" }, { name: "b" }, { name: "c" }];

  it.each([
    ["all of them", 10, 1000, 3, false],
    ["as many as were asked for", 2, 1000, 2, true],
    ["as many as the budget holds", 10, 30, 2, true],
    ["exactly what there is", 3, 39, 3, false],
  ])("gives %s", (_, maxResults, budget, count, truncated) => {
    expect(firstEntries(entries, maxResults, budget)).toEqual({ items: entries.slice(0, count), truncated });
  });
});

it("text is cut by characters where that is promised, and never within one", () => {
  expect(limitCharacters("abcdef", 6)).toBe("abcdef");
  expect(limitCharacters("abcdefg", 6)).toBe("abc\n[… 1 of 7 characters left out …]\nefg");
  expect(limitCharacters("a😀bc😀d", 4)).toBe("a\ufffd\n[… 4 of 8 characters left out …]\n\ufffdd");
});
