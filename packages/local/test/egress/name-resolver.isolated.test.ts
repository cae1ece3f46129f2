import { Resolver } from "node:dns/promises";
import { afterEach, expect, test, vi } from "vitest";
import { nameServers } from "../../src/egress/name-resolver.js";

/** The options with which each resolver was created. */
const resolvers = vi.hoisted(() => new Set<unknown>());
vi.mock("node:dns/promises", async (original) => {
  const dns = await original<typeof import("node:dns/promises")>();
  class RecordedResolver extends dns.Resolver {
    constructor(options: ConstructorParameters<typeof dns.Resolver>[0]) {
      super(options);
      resolvers.add(options);
    }
  }
  return { ...dns, Resolver: RecordedResolver };
});

afterEach(() => void vi.restoreAllMocks());

/** Makes name servers answer with these IPv4 and IPv6 addresses, or fail. Returns the names that were asked for. */
function answering(four: string[] | Error, six: string[] | Error): string[] {
  const asked: string[] = [];
  const answer = (addresses: string[] | Error) => async (name: string) => {
    asked.push(name);
    if (addresses instanceof Error) throw addresses;
    return addresses;
  };
  vi.spyOn(Resolver.prototype, "resolve4").mockImplementation(answer(four) as Resolver["resolve4"]);
  vi.spyOn(Resolver.prototype, "resolve6").mockImplementation(answer(six) as Resolver["resolve6"]);
  return asked;
}

const none = new Error("ENODATA");
const unknown = new Error("ENOTFOUND");

test.each<[string, string[] | Error, string[] | Error, string[]]>([
  [
    "of both kinds, all of them, so that each is checked",
    ["1.1.1.1", "10.0.0.1"],
    ["::2"],
    ["1.1.1.1", "10.0.0.1", "::2"],
  ],
  ["of IPv4 only", ["1.1.1.1"], none, ["1.1.1.1"]],
  ["of IPv6 only", none, ["::2"], ["::2"]],
  ["none, without an error", [], [], []],
])("the resolver gives the addresses of a name: %s", async (_, four, six, expected) => {
  const asked = answering(four, six);
  expect(await nameServers()("a.example")).toEqual(expected);
  expect(asked).toEqual(["a.example", "a.example"]);
});

test("a name without addresses is the error of its IPv4 lookup", async () => {
  answering(unknown, none);
  await expect(nameServers()("a.example")).rejects.toBe(unknown);
});

test.each(["localhost", "a.localhost"])(
  "the name %s means this machine, and no name server is asked",
  async (name) => {
    const asked = answering(["1.1.1.1"], ["::2"]);
    expect(await nameServers()(name)).toEqual(["127.0.0.1", "::1"]);
    expect(asked).toEqual([]);
  },
);

test.each(["notlocalhost", "localhost.example"])("the name %s is looked up like any other", async (name) => {
  const asked = answering(["1.1.1.1"], none);
  expect(await nameServers()(name)).toEqual(["1.1.1.1"]);
  expect(asked).toEqual([name, name]);
});

test("name servers that do not answer are given up soon", () => {
  const before = new Set(resolvers);
  nameServers();
  const [options] = [...resolvers].filter((made) => !before.has(made));
  expect(options).toEqual({ timeout: 4000, tries: 2 });
});
