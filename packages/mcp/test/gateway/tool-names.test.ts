import { expect, it } from "vitest";
import { listedNames } from "../../src/gateway/tool-names.js";

it("begins each name with the server's, in characters that every model provider takes", () => {
  const names = listedNames("my.server", ["echo", "get/sum"]);
  expect([...names]).toEqual([
    ["echo", "my_server__echo"],
    ["get/sum", "my_server__get_sum"],
  ]);
});

it("keeps names apart that would be the same, and shortens those that are too long, the same each time", () => {
  const long = "x".repeat(80);
  const tools = ["a.b", "a_b", "a-b", long, `${long}y`, "a.b"];
  const names = [...listedNames("s", tools).values()];
  expect(names).toHaveLength(5);
  expect(new Set(names).size).toBe(5);
  expect(names.slice(0, 3)).toEqual(["s__a_b", expect.stringMatching(/^s__a_b_[0-9a-f]{8}$/), "s__a-b"]);
  for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  expect([...listedNames("s", tools).values()]).toEqual(names);
});

it("keeps a name apart from one that looks as if it had been shortened", () => {
  const long = "x".repeat(80);
  const shortened = listedNames("s", [long]).get(long)?.slice("s__".length) ?? "";
  const names = [...listedNames("s", [shortened, long]).values()];
  expect(names[0]).toBe(`s__${shortened}`);
  expect(names[1]).toMatch(/^[A-Za-z0-9_-]{64}$/);
  expect(names[1]).not.toBe(names[0]);
});
