import { afterEach, describe, expect, test } from "vitest";
import { EgressPolicy } from "../../../src/egress/egress-policy.js";
import { checkedSecret, checkedSecrets } from "../../../src/egress/secrets/checked-secrets.js";
import { SecretValue } from "../../../src/egress/secrets/secret-value.js";
import { patterns } from "../../support/egress-proxy.js";
import { noneStored } from "../../support/secret-origin.js";

const value = "real-credential-0123456789";
const open = new EgressPolicy({ internetAccess: true }, { allowPrivate: [], deny: [] });
const check = (spec: object, name = "TOKEN", policy = open) =>
  checkedSecrets(
    { [name]: { value, hosts: ["api.example.com"], env: true, ...spec } },
    { policy, find: noneStored },
  );

/** The problem's text, with its hint. Throws if a value is in it. */
function refusal(attempt: () => unknown): string {
  try {
    attempt();
  } catch (error) {
    const { message, hint = "" } = error as Error & { hint?: string };
    expect(`${message}${hint}`).not.toContain(value);
    return `${message} ${hint}`;
  }
  throw new Error("it was accepted");
}

describe("a host is refused that", () => {
  test.each([
    ["is all of the internet", "*", "two labels"],
    ["is all of a domain", "*.com", "two labels"],
    ["is all of a country's second level", "*.co.uk", "strangers"],
    ["is below a name that strangers share", "*.amazonaws.com", "strangers"],
    ["is above one that strangers share", "*.googleapis.com", "strangers"],
    ["is below such a one", "*.bucket.s3.amazonaws.com", "strangers"],
    ["is an address", "203.0.113.7", "an address"],
    ["is an IPv6 address", "[2001:db8::1]", "an address"],
    ["is a range", "203.0.113.0/24", "an address"],
    ["is a private address", "10.0.0.1", "an address"],
    ["is a spelling of an address", "0x7f.1", "an address"],
    ["is this machine", "localhost", "two labels"],
    ["is this machine too", "api.localhost", "not on the public internet"],
    ["is this machine for containers", "host.docker.internal", "not on the public internet"],
    ["is a single label", "intranet", "two labels"],
    ["has a path", "api.example.com/v1", "not a host"],
    ["has port 0", "api.example.com:0", "not a host"],
    ["has a user", "me@api.example.com", "not a host"],
  ])("%s: %s", (_, host, reason) => {
    expect(refusal(() => check({ hosts: [host] }))).toMatch(
      new RegExp(`^secrets\\.TOKEN\\.hosts\\[0\\].*${reason}`),
    );
  });

  test("the egress rules refuse", () => {
    const policy = (rules: object) =>
      new EgressPolicy({ internetAccess: true, ...rules }, { allowPrivate: [], deny: [] });
    for (const rules of [{ allow: patterns("other.test") }, { deny: patterns("*.example.com") }])
      expect(refusal(() => check({}, "TOKEN", policy(rules)))).toContain("A secret does not open its hosts");
    expect(check({}, "TOKEN", policy({ allow: patterns("*.example.com") }))).toHaveLength(1);
    expect(refusal(() => check({}, "TOKEN", policy({ internetAccess: false })))).toContain("internet_access");
  });
});

test.each([
  ["AWS_SECRET_ACCESS_KEY", "SigV4"],
  ["TWITTER_ACCESS_TOKEN_SECRET", "OAuth 1"],
  ["DEPLOY_PRIVATE_KEY", "it signs"],
  ["STRIPE_WEBHOOK_SECRET", "it signs"],
  ["GOOGLE_APPLICATION_CREDENTIALS", "sign with it"],
  ["AZURE_STORAGE_KEY", "SharedKey"],
])("%s is refused by name, because it is never sent", (name, reason) => {
  expect(refusal(() => check({}, name))).toContain(reason);
});

test.each(["PATH", "HOME", "LD_PRELOAD", "NODE_OPTIONS", "https_proxy", "SSL_CERT_FILE", "CLOUD_SANDBOX_X"])(
  "%s is no name of a secret with a variable",
  (name) => {
    expect(refusal(() => check({}, name))).toContain("a variable that programs need");
    expect(check({ env: false }, name)).toHaveLength(1);
  },
);

describe("headers", () => {
  test.each([
    [
      "one that says how a request is sent",
      { headers: { "Content-Length": "{value}" } },
      "how a request is sent",
    ],
    ["the host", { headers: { host: "{value}" } }, "how a request is sent"],
    ["without a place for the value", { headers: { "x-token": "text" } }, "has no {value}"],
    ["one twice", { headers: { "x-token": "{value}", "X-Token": "{value}" } }, "one header twice"],
    ["authorization and Basic", { headers: { authorization: "{value}" }, basic: "user" }, "one header twice"],
  ])("are refused: %s", (_, spec, reason) => {
    expect(refusal(() => check(spec))).toContain(reason);
  });

  const both = (one: object, other: object) =>
    checkedSecrets(
      {
        ONE: { value, hosts: ["*.example.com"], env: true, ...one },
        OTHER: { value, hosts: ["api.example.com"], env: true, ...other },
      },
      { policy: open, find: noneStored },
    );

  test("two secrets may set one only for different hosts, methods or paths", () => {
    const headers = { authorization: "{value}" };
    expect(refusal(() => both({ headers }, { basic: "user" }))).toContain("both set authorization");
    expect(refusal(() => both({ headers, paths: ["/v1/*"] }, { headers, paths: ["/v1/users"] }))).toContain(
      "both set",
    );
    expect(both({ headers, paths: ["/v1/*"] }, { headers, paths: ["/v2/*"] })).toHaveLength(2);
    expect(both({ headers, methods: ["GET"] }, { headers, methods: ["POST"] })).toHaveLength(2);
    expect(both({ headers }, { headers, hosts: ["other.test"] })).toHaveLength(2);
    expect(both({ headers }, {})).toHaveLength(2);
  });

  test("two secrets have placeholders that are told apart", () => {
    expect(
      refusal(() => both({ placeholder: "sk_test_0000000000" }, { placeholder: "sk_test_00000000001" })),
    ).toContain("not told apart");
  });
});

test("a secret that is replaced keeps its placeholder, and each has another", () => {
  const [first] = check({});
  const [second] = check({});
  expect(first?.placeholder).toMatch(/^csb_secret_[0-9a-f]{32}$/);
  expect(second?.placeholder).not.toBe(first?.placeholder);
  const replaced = checkedSecret(
    "TOKEN",
    { value, hosts: ["api.example.com"], env: true },
    { policy: open, find: noneStored },
    first ? [first] : [],
  );
  expect(replaced.placeholder).toBe(first?.placeholder);
});

describe("a stored secret that is named", () => {
  const hosts = ["api.example.com", "*.example.net"];
  const rules = {
    hosts,
    methods: ["GET"],
    headers: undefined,
    basic: undefined,
    paths: undefined,
    placeholder: undefined,
  };
  const name = (spec: object, stored = new SecretValue(value)) =>
    checkedSecrets(
      { TOKEN: { from: "stored", env: true, ...spec } },
      { policy: open, find: () => ({ rules, value: stored }) },
    );

  test("has the rules of the stored one, and some of its hosts", () => {
    expect(name({})).toMatchObject([{ name: "TOKEN", from: "stored", hosts, methods: ["GET"], value }]);
    expect(name({ hosts: ["*.example.net"] })).toMatchObject([{ hosts: ["*.example.net"] }]);
  });

  test.each([
    ["for other hosts", { hosts: ["evil.example.com"] }, "not a host of the stored secret"],
    ["with a value", { value }, "has from and value"],
    ["with other rules", { headers: { "x-note": "{value}" } }, "has from and headers"],
  ])("is refused %s", (_, spec, reason) => {
    expect(refusal(() => name(spec))).toContain(reason);
  });

  test("is refused when its value is lost", () => {
    expect(refusal(() => name({}, new SecretValue(undefined)))).toContain("was lost with a restart");
  });

  test("is the one way without a value", () => {
    expect(refusal(() => check({ value: undefined }))).toContain("needs a value and hosts, or from");
  });
});

test("nothing that prints or serializes a secret shows its value", async () => {
  const { inspect } = await import("node:util");
  const [secret] = check({ headers: { "x-token": "{value}" } });
  const shown = [
    JSON.stringify(secret),
    inspect(secret, { depth: 9, showHidden: true }),
    String(secret),
    JSON.stringify({ ...secret }),
  ];
  expect(shown.join("")).not.toContain(value);
  expect(structuredClone({ ...secret }) && secret?.value).toBe(value);
});

describe("a server that prints what it sends", () => {
  const before = process.env.NODE_DEBUG;
  afterEach(() => {
    if (before === undefined) delete process.env.NODE_DEBUG;
    else process.env.NODE_DEBUG = before;
  });

  test.each(["http", "tls,http2", "*"])("takes no secrets: NODE_DEBUG=%s", (text) => {
    process.env.NODE_DEBUG = text;
    expect(refusal(() => check({}))).toContain("NODE_DEBUG");
  });
});
