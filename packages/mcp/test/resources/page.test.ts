import { describe, expect, it } from "vitest";
import { pageOf } from "../../src/resources/page.js";

let taken = 0;
async function* numbers(count: number): AsyncGenerator<number> {
  for (let number = 0; number < count; number += 1) {
    taken = number + 1;
    yield number;
  }
}

describe("a list in pages", () => {
  it.each([0, 1, 99, 100, 101, 250])("of %i has each item once, in its order", async (count) => {
    const seen: number[] = [];
    let cursor: string | undefined;
    do {
      const page = await pageOf(numbers(count), cursor);
      expect(page.items.length).toBeLessThanOrEqual(100);
      seen.push(...page.items);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(seen).toEqual(Array.from({ length: count }, (_, number) => number));
  });

  it("is read no further than one page and the item after it", async () => {
    await pageOf(numbers(1_000_000), "200");
    expect(taken).toBe(301);
  });

  it.each(["", "-1", "x", "1e3", "99999999999", "7"])("refuses the cursor %j", async (cursor) => {
    await expect(pageOf(numbers(1), cursor)).rejects.toThrow(/list again without it/);
  });

  it("is empty behind its last item", async () => {
    expect(await pageOf(numbers(5), "700")).toEqual({ items: [] });
  });
});
