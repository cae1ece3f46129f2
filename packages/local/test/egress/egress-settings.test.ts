import { getServers } from "node:dns";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { egressGateway, internetSetting, internetVariable } from "../../src/egress/egress-options.js";
import { egressRules } from "../../src/egress/egress-policy.js";
import { describeEgress, examineEgress } from "../../src/egress/egress-report.js";
import { parseUpstreamProxy } from "../../src/egress/upstream-proxy.js";

describe("the rules that a create asks for", () => {
  test.each([true, false])("are internet access: %s", (internetAccess) => {
    expect(egressRules({ internetAccess })).toEqual({ internetAccess, allow: undefined, deny: undefined });
  });

  test("are lists of patterns", () => {
    const { allow, deny } = egressRules({
      internetAccess: true,
      allow: ["pypi.org:443", "10.0.0.0/8"],
      deny: ["*.evil.example"],
    });
    expect(allow?.map(({ isSubnet }) => isSubnet)).toEqual([false, true]);
    expect(allow?.[0]?.matchesName({ host: "pypi.org", port: 443 })).toBe(true);
    expect(deny?.map((pattern) => pattern.matchesName({ host: "a.evil.example", port: 1 }))).toEqual([true]);
    expect(egressRules({ internetAccess: true, allow: [] }).allow).toEqual([]);
  });

  test.each([
    ["allow", { allow: ["pypi.org", "http://a"] }, /^egress\.allow\[1\] is not a valid destination/],
    ["deny", { deny: [""] }, /^egress\.deny\[0\] is not a valid destination/],
  ])("are refused where an entry of %s is invalid", (_, settings, message) => {
    expect(() => egressRules({ internetAccess: true, ...settings })).toThrow(
      expect.objectContaining({
        status: 400,
        code: "INVALID_REQUEST",
        message: expect.stringMatching(message),
      }),
    );
  });

  test.each([[{ allow: ["pypi.org"] }], [{ deny: ["pypi.org"] }], [{ allow: [] }]])(
    "cannot restrict internet access that is off: %j",
    (settings) => {
      expect(() => egressRules({ internetAccess: false, ...settings })).toThrow(
        /^egress limits internet access/,
      );
    },
  );
});

describe("what an operator sets", () => {
  test.each([
    [undefined, undefined, "on", { internetAccess: true }],
    ["off", undefined, "off", { internetAccess: false }],
    [" ON ", "off", "on", { internetAccess: true }],
    [undefined, " off ", "off", { internetAccess: false }],
    ["  ", "off", "off", { internetAccess: false }],
    [undefined, "  ", "on", { internetAccess: true }],
    [
      "allow=pypi.org, *.Example.org:443",
      undefined,
      "allow=pypi.org, *.example.org:443",
      { internetAccess: true, allow: ["pypi.org", "*.example.org:443"] },
    ],
  ])("as option %j and variable %j is %j", (option, variable, text, egress) => {
    expect(internetSetting(option, { [internetVariable]: variable })).toEqual({ text, egress });
  });

  test.each([
    "of",
    "onn",
    "allow=",
    "allow=a/b",
    "allow=pypi.org,",
    "disallow=pypi.org",
    "allow",
    `${"x".repeat(90)}`,
  ])("is refused as %j", (text) => {
    expect(() => internetSetting(text, {})).toThrow(
      expect.objectContaining({
        name: "InvalidEgressError",
        message: expect.stringContaining(
          `${JSON.stringify(text.slice(0, 80))} is not a valid value for --internet or ${internetVariable}`,
        ),
      }),
    );
  });

  test("is read from this process's environment", () => {
    const before = process.env[internetVariable];
    process.env[internetVariable] = "off";
    try {
      expect(internetSetting(undefined).text).toBe("off");
    } finally {
      if (before === undefined) delete process.env[internetVariable];
      else process.env[internetVariable] = before;
    }
  });
});

describe("the report on the internet access of sandboxes", () => {
  test("has no remarks where there are none", async () => {
    const report = await examineEgress({}, async () => undefined);
    expect(report).toEqual({
      internet: "on",
      protocols: ["HTTP CONNECT", "HTTP", "SOCKS5"],
      name_servers: getServers(),
      refused: ["addresses that are not on the public internet", "*:25"],
      remarks: [],
    });
    expect(describeEgress(report)).toEqual([
      "Internet access: on, unless a create says internet_access; over HTTP CONNECT, HTTP, SOCKS5; TCP only",
      `  names resolved by: ${getServers().join(", ")}`,
      "  refused: addresses that are not on the public internet, *:25 (see --egress-allow-private and --egress-deny)",
    ]);
  });

  test("names what may prevent it", async () => {
    const env = { http_proxy: "http://a", HTTPS_PROXY: "http://b", ALL_PROXY: "", [internetVariable]: "off" };
    const report = await examineEgress(env, async () => ({ message: "There is none.", isSilent: true }));
    expect(report).toMatchObject({
      internet: "off",
      remarks: ["There is none.", expect.stringMatching(/^HTTPS_PROXY, http_proxy is set here but not used/)],
    });
    const lines = describeEgress(report);
    expect(lines).toHaveLength(5);
    expect(lines[3]).toBe("  ! There is none.");
  });

  test("names every variable that sets a proxy", async () => {
    const names = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];
    const { remarks } = await examineEgress(
      Object.fromEntries(names.map((name) => [name, "http://a"])),
      async () => undefined,
    );
    expect(remarks).toEqual([expect.stringContaining(`${names.join(", ")} is set here`)]);
  });
});

describe("the upstream proxy", () => {
  test.each([
    ["http://proxy.internal:3128", { host: "proxy.internal", port: 3128 }],
    ["http://[::1]", { host: "::1", port: 80 }],
    ["proxy.internal:3128", { host: "proxy.internal", port: 3128 }],
  ])("%j is taken", (text, expected) => expect(parseUpstreamProxy(text)).toEqual(expected));

  test.each([
    "https://proxy.internal",
    "socks5://proxy.internal",
    "",
    "http://me:a/b@proxy",
    "http://me:1/b@proxy",
    "http://me:1?b@proxy",
    "http://me:1#b@proxy",
  ])("%j is refused", (text) => expect(parseUpstreamProxy(text)).toBeUndefined());

  test.each([
    ["50%off", "50%off"],
    ["50%25off", "50%off"],
    ["%", "%"],
    ["a%20%c3%a9%zz", "a é%zz"],
    ["%ff", "%ff"],
    ["a@b", "a@b"],
  ])("with the password %j signs in with %j", (written, meant) => {
    const { authorization = "" } = parseUpstreamProxy(`http://me:${written}@proxy`) ?? {};
    expect(Buffer.from(authorization.slice("Basic ".length), "base64").toString()).toBe(`me:${meant}`);
  });

  test.each([
    ["DOMAIN%5Cme:word", "DOMAIN\\me:word"],
    [":word", ":word"],
    ["me", "me:"],
  ])("with %j signs in with %j", (written, meant) => {
    const { authorization = "" } = parseUpstreamProxy(`http://${written}@proxy`) ?? {};
    expect(Buffer.from(authorization.slice("Basic ".length), "base64").toString()).toBe(meant);
  });

  test("a user of a domain is told how to write it", () => {
    expect(() => egressGateway({ upstreamProxy: "http://DOMAIN\\me:word@proxy" })).toThrow(/ \\ .*%5C/);
  });

  test("is also read from a variable, so that no process list shows its password, and no error does", () => {
    vi.stubEnv("CLOUD_SANDBOX_UPSTREAM_PROXY", "https://me:hidden@proxy");
    onTestFinished(() => void vi.unstubAllEnvs());
    const refused = expect.objectContaining({
      name: "InvalidEgressError",
      message: expect.not.stringContaining("hidden"),
    });
    expect(() => egressGateway()).toThrow(refused);
    expect(() => egressGateway({ upstreamProxy: "http://proxy" })).not.toThrow();
  });
});
