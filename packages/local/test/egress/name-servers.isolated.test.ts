import { Resolver } from "node:dns/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { nameServers } from "../../src/addresses/name-servers.js";

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

describe("an address of one family that is not answered for", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const never = (): Promise<never> => new Promise(() => undefined);

  test.each([
    ["resolve4", ["::2"]],
    ["resolve6", ["1.1.1.1"]],
  ] as const)("costs half a second: %s", async (silent, expected) => {
    answering(["1.1.1.1"], ["::2"]);
    vi.spyOn(Resolver.prototype, silent).mockImplementation(never);
    const found = nameServers()("a.example");
    await vi.advanceTimersByTimeAsync(499);
    expect(await Promise.race([found, "waits"])).toBe("waits");
    await vi.advanceTimersByTimeAsync(1);
    expect(await found).toEqual(expected);
  });

  test("is not asked for again in the next minute, unless the name has no other", async () => {
    answering(["1.1.1.1"], none);
    const six = vi.spyOn(Resolver.prototype, "resolve6").mockImplementation(never);
    const resolve = nameServers();
    const first = resolve("a.example");
    await vi.advanceTimersByTimeAsync(500);
    await first;
    expect(await resolve("b.example")).toEqual(["1.1.1.1"]);
    expect(six).toHaveBeenCalledTimes(1);
    answering(none, ["::2"]);
    expect(await resolve("c.example")).toEqual(["::2"]);
    answering(["1.1.1.1"], ["::2"]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await resolve("d.example")).toEqual(["1.1.1.1", "::2"]);
  });

  test("is asked for again if it comes late", async () => {
    answering(["1.1.1.1"], none);
    let answer: (addresses: string[]) => void = () => undefined;
    const late = new Promise<string[]>((resolve) => {
      answer = resolve;
    });
    vi.spyOn(Resolver.prototype, "resolve6").mockImplementation(() => late as never);
    const resolve = nameServers();
    const first = resolve("a.example");
    await vi.advanceTimersByTimeAsync(500);
    await first;
    answer(["::2"]);
    await vi.advanceTimersByTimeAsync(0);
    expect(await resolve("a.example")).toEqual(["1.1.1.1", "::2"]);
  });
});

test("name servers that this machine got since the last name are asked", async () => {
  answering(["1.1.1.1"], none);
  const configured = new Map<unknown, string[]>();
  const askers = new Set<unknown>();
  let servers = ["192.0.2.1"];
  vi.spyOn(Resolver.prototype, "getServers").mockImplementation(function (this: unknown) {
    if (!configured.has(this)) configured.set(this, servers);
    return configured.get(this) ?? [];
  });
  vi.spyOn(Resolver.prototype, "resolve4").mockImplementation(function (this: unknown) {
    askers.add(this);
    return Promise.resolve(["1.1.1.1"]) as never;
  });
  const resolve = nameServers();
  await resolve("a.example");
  await resolve("b.example");
  expect(askers.size).toBe(1);
  servers = ["192.0.2.2"];
  await resolve("c.example");
  expect(askers.size).toBe(2);
});

test("the error of a name tells of silence, because an answer could have had an address", async () => {
  const silent = Object.assign(new Error("silent"), { code: "ETIMEOUT" });
  answering(unknown, silent);
  await expect(nameServers()("a.example")).rejects.toBe(silent);
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
