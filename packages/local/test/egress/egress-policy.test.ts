import { describe, expect, test } from "vitest";
import { canonicalHost, parseAuthority } from "../../src/egress/destination.js";
import { DestinationPattern } from "../../src/egress/destination-pattern.js";
import { EgressPolicy, type EgressRules } from "../../src/egress/egress-policy.js";
import { patterns } from "../support/egress-proxy.js";

test.each([
  ["PyPI.org.", "pypi.org"],
  ["bücher.example", "xn--bcher-kva.example"],
  ["127.0.0.1", "127.0.0.1"],
  ["2130706433", "127.0.0.1"],
  ["0x7f000001", "127.0.0.1"],
  ["0177.0.0.1", "127.0.0.1"],
  ["127.1", "127.0.0.1"],
  ["0xa9.0xfe.43518", "169.254.169.254"],
  ["１２７.0.0.1", "127.0.0.1"],
  ["[::1]", "::1"],
  ["::ffff:127.0.0.1", "::ffff:7f00:1"],
  ["fe80::1%eth0", undefined],
  ["a b", undefined],
  ["a/b", undefined],
  ["user@host", undefined],
  ["%31.1.1.1", undefined],
  ["256.1.1.1", undefined],
  ["pypi.org..", undefined],
  ["pypi。org。。", undefined],
  ["127.0.0.1..", undefined],
  ["pypi..org", undefined],
  [".pypi.org", undefined],
  [".", undefined],
  ["", undefined],
  [`${"a".repeat(63)}.`.repeat(5), undefined],
])("the host %s is %s", (text, host) => expect(canonicalHost(text)).toBe(host));

test.each([
  ["host:443", { host: "host", port: 443 }],
  ["[::1]:80", { host: "::1", port: 80 }],
  ["host", undefined],
  ["host:0", undefined],
  ["host:65536", undefined],
  ["::1:80", undefined],
  ["host:80:80", undefined],
  ["host:8o", undefined],
])("the authority %s is %o", (text, destination) => expect(parseAuthority(text)).toEqual(destination));

test.each([
  "",
  "a b",
  "*.1.2.3.4",
  "1.2.3.4/33",
  "host:0",
  "host:65536",
  "a/b",
  "*.*.org",
  "*.org..",
  "*..org",
  "*x",
  "http://a",
  "[::1",
  "::/129",
])("%o is not a valid pattern", (text) => expect(DestinationPattern.parse(text)).toBeUndefined());

describe("a policy", () => {
  const operator = {
    allowPrivate: patterns("127.0.0.1:8080", "internal.example:443", "fd00::/8"),
    deny: patterns("*:25", "9.9.9.0/24"),
  };

  /**
   * What the policy says of a destination whose name has these addresses: "allowed", or the beginning of the refusal.
   */
  const verdict = (rules: Partial<EgressRules>, authority: string, ...addresses: string[]): string => {
    const policy = new EgressPolicy({ internetAccess: true, ...rules }, operator);
    const destination = parseAuthority(authority);
    if (!destination) throw new Error(authority);
    const refused = policy.refuseName(destination);
    if (refused !== undefined) return `name: ${refused}`;
    return (
      policy.refuseAddresses(destination, addresses.length > 0 ? addresses : [destination.host]) ?? "allowed"
    );
  };

  test.each([
    ["no access", { internetAccess: false }, "pypi.org:443", ["1.1.1.1"], /^name: .*internet_access: true/],
    ["nothing said", {}, "pypi.org:443", ["1.1.1.1", "2606:4700::1"], /^allowed$/],
    [
      "one private address among public ones",
      {},
      "pypi.org:443",
      ["1.1.1.1", "10.0.0.1"],
      /not on the public/,
    ],
    ["a private address that is opened", {}, "127.0.0.1:8080", [], /^allowed$/],
    ["a name that leads to one", {}, "localhost:8080", ["127.0.0.1"], /^allowed$/],
    ["its other ports", {}, "127.0.0.1:8081", [], /not on the public/],
    ["a private name that is opened", {}, "internal.example:443", ["10.0.0.1"], /^allowed$/],
    ["names below it", {}, "a.internal.example:443", ["10.0.0.1"], /not on the public/],
    ["a private range that is opened", {}, "[fd12::1]:1", [], /^allowed$/],
    ["a port that the operator closes", {}, "mail.example:25", ["1.1.1.1"], /^name: .*--egress-deny/],
    ["a range that the operator closes", {}, "dns.example:443", ["9.9.9.9"], /--egress-deny/],
    ["the same through NAT64", {}, "dns.example:443", ["64:ff9b::9.9.9.9"], /--egress-deny/],
    [
      "a denied range through NAT64",
      { deny: patterns("1.1.0.0/16") },
      "a.example:1",
      ["64:ff9b::1.1.1.1"],
      /egress.deny/,
    ],
    [
      "an allowed range through NAT64",
      { allow: patterns("1.1.0.0/16") },
      "a.example:1",
      ["64:ff9b::1.1.1.1"],
      /^allowed$/,
    ],
    ["a public address through NAT64", {}, "a.example:1", ["1.1.1.1", "64:ff9b::1.1.1.1"], /^allowed$/],
    [
      "an opened private address through NAT64",
      {},
      "a.example:8080",
      ["64:ff9b::127.0.0.1"],
      /not on the public/,
    ],
    [
      "a VPN's placeholder",
      {},
      "a.example:1",
      ["198.18.0.7"],
      /not on the public internet \(198\.18\.0\.0\/15: .*VPN/,
    ],
    [
      "a private range, but not the address in it",
      {},
      "a.example:1",
      ["10.1.2.3"],
      /^(?!.*10\.1\.2\.3).*\(10\.0\.0\.0\/8: Private use\)/,
    ],
    ["the allow list", { allow: patterns("pypi.org") }, "pypi.org:443", ["1.1.1.1"], /^allowed$/],
    [
      "what is not on it",
      { allow: patterns("pypi.org") },
      "evil.example:443",
      ["1.1.1.1"],
      /^name: .*egress.allow/,
    ],
    ["an empty allow list", { allow: [] }, "pypi.org:443", ["1.1.1.1"], /^name: .*egress.allow/],
    [
      "a port of the allow list",
      { allow: patterns("pypi.org:443") },
      "pypi.org:80",
      ["1.1.1.1"],
      /egress.allow/,
    ],
    [
      "all below a name",
      { allow: patterns("*.npmjs.org") },
      "registry.npmjs.org:443",
      ["1.1.1.1"],
      /^allowed$/,
    ],
    ["the name itself", { allow: patterns("*.npmjs.org") }, "npmjs.org:443", ["1.1.1.1"], /egress.allow/],
    [
      "a name that ends like it",
      { allow: patterns("*.npmjs.org") },
      "evilnpmjs.org:1",
      ["1.1.1.1"],
      /egress.allow/,
    ],
    ["an allowed range", { allow: patterns("1.1.0.0/16") }, "a.example:443", ["1.1.1.1"], /^allowed$/],
    [
      "a range with only some of them",
      { allow: patterns("1.1.0.0/16") },
      "a.example:1",
      ["1.1.1.1", "8.8.8.8"],
      /egress.allow/,
    ],
    [
      "a denied name",
      { deny: patterns("evil.example") },
      "EVIL.example.:443",
      ["1.1.1.1"],
      /^name: .*egress.deny/,
    ],
    [
      "a denied range",
      { deny: patterns("1.0.0.0/8") },
      "a.example:443",
      ["8.8.8.8", "1.1.1.1"],
      /egress.deny/,
    ],
    [
      "deny and allow",
      { allow: patterns("*"), deny: patterns("*.evil.example") },
      "a.evil.example:1",
      ["1.1.1.1"],
      /egress.deny/,
    ],
    ["an allowed private range", { allow: patterns("10.0.0.0/8") }, "10.0.0.1:80", [], /not on the public/],
    [
      "an IPv6 address whose port must be told from it",
      {},
      "[fe80::1]:5432",
      [],
      /^\[fe80::1\]:5432 is not .* --egress-allow-private \[fe80::1\]:5432\.$/,
    ],
    ["an address in another form", { deny: patterns("8.8.8.8") }, "134744072:53", [], /egress.deny/],
  ] as const)("%s", (_, rules, authority, addresses, expected) => {
    expect(verdict(rules, authority, ...addresses)).toMatch(expected);
  });

  test.each([
    ["the operator's", [], patterns("169.254.0.0/16"), /--egress-deny/],
    ["the sandbox's own", patterns("169.254.169.254"), [], /egress\.deny/],
  ])(
    "refuses what %s list denies in each spelling, where all private addresses are opened",
    (_, deny, closed, expected) => {
      const policy = new EgressPolicy(
        { internetAccess: true, deny },
        { allowPrivate: patterns("*"), deny: closed },
      );
      for (const address of ["169.254.169.254", "::ffff:a9fe:a9fe", "64:ff9b::a9fe:a9fe"]) {
        const destination = { host: address, port: 80 };
        expect(policy.refuseAddresses(destination, [address])).toMatch(expected);
        expect(policy.ruleFor(destination)).toMatch(/169\.254\./);
      }
    },
  );
});
