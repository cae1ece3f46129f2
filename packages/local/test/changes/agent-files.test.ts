import { describe, expect, test } from "vitest";
import type { AgentCalls } from "../../src/agents/agent-calls.js";
import { AgentFiles } from "../../src/changes/agent-files.js";
import type { Machine } from "../../src/runtime/sandbox-runtime.js";

type Told = Readonly<Record<string, unknown>>;

/** What is understood of an agent that code has replaced. */
function filesTold(...lines: readonly unknown[]): AgentFiles {
  return filesOf(lines.map((facts) => ({ facts })));
}

function filesOf(told: Iterable<Told>): AgentFiles {
  const agents: Pick<AgentCalls, "readFiles"> = {
    readFiles: async () =>
      (async function* () {
        yield* told;
      })(),
  };
  return new AgentFiles(agents, {} as Machine, new AbortController().signal);
}

async function listed(...told: Told[]): Promise<unknown[]> {
  const entries: unknown[] = [];
  for await (const some of filesTold(told).entries) entries.push(...some);
  return entries;
}

const file = { path: "/a", type: "file", size: 1, modified: "1", executable: true };

describe("files that an agent tells of", () => {
  test("are those that can be", async () => {
    expect(
      await listed(
        { ...file, other: "x" },
        { path: "/\xff\n", type: "link", target: "\xff" },
        { path: "/d", type: "directory", skipped: 2 },
        { path: "/...", type: "directory", skipped: "2", untouched: 1 },
        { path: "/u", type: "directory", untouched: true },
      ),
    ).toEqual([
      file,
      { path: "/\xff\n", type: "link", target: "\xff" },
      { path: "/d", type: "directory", skipped: 2 },
      { path: "/...", type: "directory" },
      { path: "/u", type: "directory", untouched: true },
    ]);
  });

  test.each([
    ["no path", { type: "other" }],
    ["a relative path", { ...file, path: "a" }],
    ["a path of the root", { ...file, path: "/" }],
    ["a path that leads up", { ...file, path: "/a/../b" }],
    ["a path with an empty name", { ...file, path: "/a//b" }],
    ["a path that ends in a slash", { ...file, path: "/a/" }],
    ["a path with a character that is no byte", { ...file, path: "/\u0100" }],
    ["a path with a zero", { ...file, path: "/\0" }],
    ["a path that is too long", { ...file, path: `/${"x".repeat(4096)}` }],
    ["an unknown type", { ...file, type: "__proto__" }],
    ["a size below zero", { ...file, size: -1 }],
    ["a size that is no number", { ...file, size: "1" }],
    ["a time that is no number", { ...file, modified: "x".repeat(10) }],
    ["a time without end", { ...file, modified: "1".repeat(1000) }],
  ])("are refused with %s", async (_, told) => {
    await expect(listed(told)).rejects.toThrow("cannot be");
  });

  test("are at most a million", async () => {
    const many = function* () {
      for (;;) yield { facts: Array.from({ length: 1000 }, () => ({ path: "/a", type: "directory" })) };
    };
    const count = async () => {
      for await (const _ of filesOf(many()).entries);
    };
    await expect(count()).rejects.toMatchObject({ status: 413, code: "PAYLOAD_TOO_LARGE" });
  });

  test("have the digests that were asked for, and no others", async () => {
    const digest = "0".repeat(64);
    const told = [
      { path: "/a", digest },
      { path: "/b", digest },
      { path: "/c", digest: "x" },
      { path: ["/a"], digest: {} },
    ];
    expect(await filesTold(told).digests(["/a", "/c", "/d", "/e"])).toEqual(new Map([["/a", digest]]));
  });

  test.each([
    [{ side: { bytes: "x" } }, { bytes: "x" }],
    [{ side: { bytes: "x".repeat(1024 * 1024 + 1) } }, { omitted: "too_large" }],
    [{ side: { bytes: "\u0100" } }, undefined],
    [{ side: { omitted: "binary" } }, { omitted: "binary" }],
    [{ side: { omitted: "other" } }, undefined],
    [{ side: null }, undefined],
    [{ side: "text" }, undefined],
    [{}, undefined],
  ])("have the content of %j as %j", async (told, side) => {
    expect(await filesTold([told]).side("/a")).toEqual(side);
  });

  test("have no content if the agent ends its answer before", async () => {
    await expect(filesTold().side("/a")).rejects.toThrow("does not tell");
  });

  test.each([[undefined], ["text"], [{}], [[]], [[null]], [["text"]], [[[]]]])(
    "are none in %j",
    async (facts) => {
      expect(await filesTold(facts).digests(["/a"])).toEqual(new Map());
      expect(await filesTold(facts).side("/a")).toBeUndefined();
    },
  );
});
