import { describe, expect, test } from "vitest";
import { canonicalHost, parseAuthority, parseDestination } from "../../src/egress/destination.js";
import { DestinationPattern } from "../../src/egress/destination-pattern.js";
import { EgressPolicy, type EgressRules } from "../../src/egress/egress-policy.js";
import { withoutHopByHop } from "../../src/relay/forwarded-headers.js";
import { patterns } from "../support/egress-proxy.js";

test.each([
  ["*", "a.example:1", "name"],
  ["*:25", "a.example:25", "name"],
  ["*:25", "a.example:26", "nothing"],
  ["*", "1.1.1.1:1", "name"],
  ["a.example", "a.example:1", "name"],
  ["a.example", "b.example:1", "nothing"],
  ["a.example", "x.a.example:1", "nothing"],
  ["A.Example.", "a.example:1", "name"],
  ["a.example:65535", "a.example:65535", "name"],
  ["a.example:65535", "a.example:6553", "nothing"],
  ["a.example:443", "a.example:44", "nothing"],
  ["*.a.example", "x.a.example:1", "name"],
  ["*.a.example", "y.x.a.example:1", "name"],
  ["*.a.example", "a.example:1", "nothing"],
  ["*.a.example:443", "x.a.example:444", "nothing"],
  ["1.2.3.4", "1.2.3.4:1", "address"],
  ["1.2.3.4", "1.2.3.5:1", "nothing"],
  ["16909060", "1.2.3.4:1", "address"],
  ["1.2.3.4:80", "1.2.3.4:81", "nothing"],
  ["1.2.0.0/16", "1.2.9.9:1", "address"],
  ["1.2.0.0/16", "1.3.0.0:1", "nothing"],
  ["1.2.0.0/16:80", "1.2.9.9:80", "address"],
  ["1.2.0.0/16:80", "1.2.9.9:81", "nothing"],
  ["1.2.0.0/16", "[2001:db8::1]:1", "nothing"],
  ["2001:db8::1", "[2001:db8::1]:1", "address"],
  ["2001:db8::1", "[2001:db8::2]:1", "nothing"],
  ["[2001:db8::1]:80", "[2001:db8::1]:80", "address"],
  ["[2001:db8::1]:80", "[2001:db8::1]:81", "nothing"],
  ["2001:db8::/32", "[2001:db8:1::1]:1", "address"],
  ["[2001:db8::/32]:80", "[2001:db8:1::1]:81", "nothing"],
  ["2001:db8::/32", "1.2.3.4:1", "nothing"],
] as const)("the pattern %s matches %s by its %s", (text, authority, by) => {
  const pattern = DestinationPattern.parse(text);
  const destination = parseAuthority(authority);
  if (!pattern || !destination) throw new Error(`${text} or ${authority} cannot be read.`);
  expect(pattern.matchesName(destination)).toBe(by === "name");
  const { host, port } = destination;
  const isAddress = /^[\d.]+$|:/.test(host);
  expect(isAddress && pattern.matchesAddress(host, port)).toBe(by === "address");
});

test.each([
  ["a.example", false],
  ["*", false],
  ["*.a.example", false],
  ["1.2.3.4", true],
  ["1.2.0.0/16", true],
  ["::1", true],
])("the pattern %s is a range of addresses: %s", (text, isSubnet) => {
  const [pattern] = patterns(text);
  expect(pattern?.isSubnet).toBe(isSubnet);
  if (!isSubnet) expect(pattern?.matchesAddress("1.2.3.4", 1)).toBe(false);
});

test.each([
  "a*.example",
  "*.a.example\nb",
  "*.1.2.3.4",
  "a.example:0",
  "a.example:65536",
  "a.example:",
  "*.",
])("%j is not a valid pattern", (text) => expect(DestinationPattern.parse(text)).toBeUndefined());

test.each(["a[::1]", "[::1]b", "a\\b", "a@b", "a#b", "a?b"])("%s is not a valid host", (text) => {
  expect(canonicalHost(text)).toBeUndefined();
});

test("a host may be as long as names may be, and no longer", () => {
  const longest = `${`${"a".repeat(62)}.`.repeat(4)}a`;
  expect(canonicalHost(longest)).toBe(longest);
  expect(canonicalHost(`${longest}a`)).toBeUndefined();
});

test.each([
  ["a", 65_535, true],
  ["a", 1, true],
  ["a", 65_536, false],
  ["a", 0, false],
  ["a", -1, false],
  ["a", 1.5, false],
  ["a", Number.NaN, false],
  ["a b", 80, false],
])("the host %s with the port %d is a valid destination: %s", (host, port, isOne) => {
  expect(parseDestination(host, port)).toEqual(isOne ? { host, port } : undefined);
});

test.each([
  ["a", { host: "a", port: 80 }],
  ["a:8080", { host: "a", port: 8080 }],
  ["[::1]", { host: "::1", port: 80 }],
  ["", undefined],
])("the authority %j without a port gets the default port", (text, expected) => {
  expect(parseAuthority(text, 80)).toEqual(expected);
});

describe("a policy for a name with several addresses", () => {
  const operator = { allowPrivate: [], deny: patterns("9.9.9.0/24") };
  const refusal = (rules: Partial<EgressRules>, ...addresses: string[]): string | undefined =>
    new EgressPolicy({ internetAccess: true, ...rules }, operator).refuseAddresses(
      { host: "a.example", port: 443 },
      addresses,
    );

  test.each<[string, Partial<EgressRules>, string[], RegExp | undefined]>([
    ["refuses all where one is the operator's", {}, ["1.1.1.1", "9.9.9.9"], /--egress-deny/],
    [
      "refuses all where one is denied",
      { deny: patterns("8.8.8.8") },
      ["1.1.1.1", "8.8.8.8"],
      /egress\.deny/,
    ],
    [
      "allows those of a name that is listed beside others",
      { allow: patterns("a.example", "8.8.0.0/16", "b.example") },
      ["1.1.1.1"],
      undefined,
    ],
    ["allows none of nothing", { allow: patterns("8.8.0.0/16") }, [], /egress\.allow/],
  ])("%s", (_, rules, addresses, expected) => {
    if (expected) expect(refusal(rules, ...addresses)).toMatch(expected);
    else expect(refusal(rules, ...addresses)).toBeUndefined();
  });

  test.each([true, false])("knows whether there is internet access at all: %s", (internetAccess) => {
    expect(new EgressPolicy({ internetAccess }, operator).internetAccess).toBe(internetAccess);
  });
});

test.each([
  [["X-Other", "x-mine", "X-Mine", "1"], [], ["X-Other", "x-mine", "X-Mine", "1"]],
  [["X-Mine", "1", "Proxy-Authorization", "secret"], [], ["X-Mine", "1"]],
  [["X-Mine", "1", "Host", "a"], ["host"], ["X-Mine", "1"]],
  [["Connection", "X-Mine", "x-mine", "1"], [], []],
])("of the headers %j, without %j, %j are passed on", (headers, more, kept) => {
  expect(withoutHopByHop(headers, more)).toEqual(kept);
});
