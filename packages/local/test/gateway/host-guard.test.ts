import { describe, expect, test } from "vitest";
import { HostGuard } from "../../src/gateway/request-guards.js";

const isServed = (guard: HostGuard, host: string | undefined): boolean => guard.refusal(host) === undefined;

describe("a server on loopback", () => {
  test.each([
    ["127.0.0.1", true],
    ["127.0.0.1:80", true],
    ["127.9.9.9:1", true],
    ["localhost", true],
    ["LocalHost:8080", true],
    ["a.localhost:8080", true],
    ["80-a.localhost", true],
    ["[::1]", true],
    ["[::1]:8080", true],
    ["Own.Example:80", true],
    [undefined, true],
    ["", false],
    ["evil.example", false],
    ["evil.example:80", false],
    ["127.evil.example", false],
    ["1.127.0.1", false],
    ["localhost.evil.example", false],
    ["evillocalhost", false],
    ["a.own.example", false],
    ["own.example:80x", false],
    ["own.example:80:1", false],
    ["own[.example]", false],
    ["[own].example", false],
    ["[::2]", false],
    ["10.0.0.1", false],
  ])("that allows one name answers to %s: %s", (host, served) => {
    expect(isServed(new HostGuard("127.0.0.1", ["OWN.example"]), host)).toBe(served);
  });

  test("that allows no name answers to no other, and says how to allow one", () => {
    const refusal = new HostGuard("127.0.0.1").refusal("evil.example");
    expect(refusal).toMatchObject({ status: 403, code: "FORBIDDEN" });
    expect(refusal?.message).toContain("--allowed-host");
  });
});

test.each([
  ["0.0.0.0", [], "any.example", true],
  ["0.0.0.0", ["own.example"], "own.example", true],
  ["0.0.0.0", ["own.example"], "any.example", false],
  ["0.0.0.0", ["own.example"], "0.0.0.0", true],
  ["Host.Example", ["own.example"], "host.example", true],
  ["localhost", [], "any.example", false],
  ["::1", [], "any.example", false],
  ["::1", [], "[::1]", true],
] as const)("a server on %s where %j is allowed answers to %s: %s", (listens, allowed, host, served) => {
  expect(isServed(new HostGuard(listens, allowed), host)).toBe(served);
});

test("a server for other machines answers to every name unless names are given", () => {
  expect(isServed(new HostGuard("0.0.0.0"), "any.example")).toBe(true);
});
