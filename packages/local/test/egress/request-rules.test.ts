import { describe, expect, test } from "vitest";
import { EgressPolicy, egressRules } from "../../src/egress/egress-policy.js";

const api = { host: "api.test", port: 443 };
const policy = (allow: readonly string[] | undefined, deny?: readonly string[]): EgressPolicy =>
  new EgressPolicy(egressRules({ internetAccess: true, allow, deny }), { allowPrivate: [], deny: [] });

describe("a rule about requests", () => {
  test.each([
    [["GET api.test"], "GET", "/any", true],
    [["GET api.test"], "POST", "/any", false],
    [["api.test/v1/*"], "POST", "/v1/x?y=/..", true],
    [["api.test/v1/*"], "POST", "/v2", false],
    [["GET,HEAD api.test/v1"], "HEAD", "/v1", true],
    [["GET,HEAD api.test/v1"], "HEAD", "/v1/x", false],
    [["GET api.test", "POST api.test/new"], "POST", "/new", true],
    [["api.test", "GET api.test/v1"], "DELETE", "/other", true],
    [["api.test/v1/*"], "GET", "/v1/../admin", false],
    [["api.test/v1/*"], "GET", "/v1/%2e%2e/admin", false],
    [["api.test/v1/*"], "GET", "//v1/x", false],
  ])("%j: %s %s is allowed: %s", (allow, method, path, isAllowed) => {
    const rules = policy(allow);
    expect(rules.refuseName(api)).toBeUndefined();
    expect(rules.refuseName({ host: "other.test", port: 443 })).toBeDefined();
    expect(rules.refuseRequest(api, method, path) === undefined).toBe(isAllowed);
  });

  test("of the deny list wins, and only for what it matches", () => {
    const rules = policy(["api.test"], ["DELETE api.test", "api.test/admin/*"]);
    expect(rules.refuseName(api)).toBeUndefined();
    expect(rules.refuseRequest(api, "GET", "/")).toBeUndefined();
    expect(rules.refuseRequest(api, "DELETE", "/")).toMatch(/egress\.deny/);
    expect(rules.refuseRequest(api, "GET", "/admin/x")).toMatch(/egress\.deny/);
    expect(rules.refuseRequest(api, "GET", "/%61dmin/x")).toMatch(/egress\.deny/);
  });

  test.each([
    ["allow", "GET 203.0.113.7"],
    ["allow", "GET *"],
    ["allow", "api.test/a/../b"],
    ["allow", "get api.test"],
    ["allow", "api.test/?x"],
    ["allow", "GET  api.test"],
  ] as const)("that cannot be kept is refused: %s %j", (list, entry) => {
    expect(() => egressRules({ internetAccess: true, [list]: [entry] })).toThrow(`egress.${list}[0] is not`);
  });

  test("of the deny list needs an allow list, because a program could take the address", () => {
    expect(() => egressRules({ internetAccess: true, deny: ["GET api.test"] })).toThrow("by its address");
  });
});
