import { expect, test } from "vitest";
import { pageOf } from "../src/router/page.js";

const self = (item: string): string => item;

test("pages of a list follow one another, newest first, and the last one says so", () => {
  const items = ["a", "c", "e", "b", "d"];
  const first = pageOf(items, self, { limit: 2, cursor: undefined });
  expect(first.items).toEqual(["e", "d"]);
  const second = pageOf(items, self, { limit: 2, cursor: first.nextCursor });
  expect(second.items).toEqual(["c", "b"]);
  const third = pageOf(items, self, { limit: 2, cursor: second.nextCursor });
  expect(third).toEqual({ items: ["a"], nextCursor: undefined });
});

test("entries that come and go between two pages shift no other entry", () => {
  const { nextCursor } = pageOf(["a", "b", "c", "d"], self, { limit: 2, cursor: undefined });
  expect(pageOf(["a", "b", "d", "e"], self, { limit: 2, cursor: nextCursor }).items).toEqual(["b", "a"]);
});

test("a cursor that was never issued is refused, with what to do", () => {
  expect(() => pageOf(["a"], self, { limit: 1, cursor: "nonsense" })).toThrow(
    "List again from the start, without cursor",
  );
});
