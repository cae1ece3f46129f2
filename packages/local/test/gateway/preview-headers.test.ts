import type { IncomingMessage } from "node:http";
import { tokenIssuer } from "@cloud-sandbox/protocol";
import { describe, expect, test } from "vitest";
import {
  previewRequestHeaders,
  previewResponseHeaders,
  previewTarget,
  previewUrls,
} from "../../src/gateway/preview-gateway.js";
import {
  claimsOf,
  forwardedRequestHeaders,
  forwardedResponseHeaders,
  isOriginWide,
  messageHeaders,
  subjectOf,
} from "../../src/relay/forwarded-headers.js";

type Headers = IncomingMessage["headers"];

const message = (headers: Headers, url = "/"): IncomingMessage =>
  Object.assign(Object.create(null), { headers, url });

const encoded = (claims: unknown): string =>
  `e30.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.c2ln`;
const ours = encoded({ iss: tokenIssuer, sub: "s1" });
const theirs = encoded({ iss: "theirs", sub: "s1" });

const byHost = { sandboxId: "s1", port: 3000, path: "/", prefix: "" };
const byPath = { ...byHost, prefix: "/preview/s1/3000" };

describe("to a server in a sandbox a preview", () => {
  const passed = (headers: Headers, target = byHost): Record<string, unknown> =>
    previewRequestHeaders(message(headers), target, (text) => text === "account-key");

  test.each<[string, Headers, string[]]>([
    ["its own headers", { accept: "a", cookie: "b=c", origin: "d" }, ["accept", "cookie", "origin"]],
    ["no key of the account", { "x-api-key": "k", "x-api-secret": "s", accept: "a" }, ["accept"]],
    ["no key of the account as a bearer", { authorization: "Bearer account-key" }, []],
    ["no token of ours", { authorization: `Bearer ${ours}` }, []],
    ["a token of its own", { authorization: `Bearer ${theirs}` }, ["authorization"]],
    ["another scheme", { authorization: "Basic account-key" }, ["authorization"]],
    ["nothing forged", { forwarded: "f", "x-forwarded-for": "f", "x-forwarded-prefix": "f" }, []],
    [
      "nothing of the connection",
      { connection: "x-mine", "x-mine": "1", te: "t", expect: "100-continue" },
      [],
    ],
  ])("passes on %s", (_, headers, kept) => {
    expect(Object.keys(passed(headers)).sort()).toEqual([...kept, "x-forwarded-proto"].sort());
  });

  test("passes on a credential of another scheme, whatever counts as a key", () => {
    const { authorization } = previewRequestHeaders(
      message({ authorization: "Basic x" }),
      byHost,
      () => true,
    );
    expect(authorization).toBe("Basic x");
  });

  test("passes on the host that the client sees", () => {
    expect(passed({ host: "h:1" })).toEqual({
      host: "h:1",
      "x-forwarded-host": "h:1",
      "x-forwarded-proto": "http",
    });
    expect(passed({ host: "h:1", cookie: "a=b" }, byPath)).toEqual({
      host: "h:1",
      "x-forwarded-host": "h:1",
      "x-forwarded-proto": "http",
      "x-forwarded-prefix": "/preview/s1/3000",
    });
  });
});

describe("from a server in a sandbox a preview", () => {
  const headers: Headers = {
    "content-type": "text/html",
    "set-cookie": ["a=1; Domain=.localhost; Path=/", "b=2;domain = x", "c=3"],
    "clear-site-data": "*",
    "access-control-allow-origin": "*",
    connection: "close",
  };

  const ownOrigin = "sandbox allow-downloads allow-forms allow-modals allow-popups allow-scripts";

  test("with a host of its own passes on all headers, and cookies of that host", () => {
    expect(previewResponseHeaders(message(headers), byHost, "h")).toEqual({
      "content-type": "text/html",
      "set-cookie": ["a=1; Path=/", "b=2", "c=3"],
      "clear-site-data": "*",
      "access-control-allow-origin": "*",
    });
    expect(previewResponseHeaders(message({ location: "/a" }), byHost, "h")).toEqual({ location: "/a" });
  });

  test("by path passes on no headers that apply to the whole origin", () => {
    expect(previewResponseHeaders(message(headers), byPath, "h")).toStrictEqual({
      "content-type": "text/html",
      "access-control-allow-origin": "*",
      "content-security-policy": ownOrigin,
    });
  });

  test("by path gives each page an origin of its own, and asks for no password", () => {
    const asked = { "www-authenticate": 'Basic realm="r"', "content-security-policy": "default-src 'self'" };
    expect(previewResponseHeaders(message(asked), byPath, "h")).toStrictEqual({
      "content-security-policy": `${ownOrigin}, default-src 'self'`,
    });
    expect(previewResponseHeaders(message(asked), byHost, "h")).toEqual(asked);
  });

  test.each([
    ["/", "/preview/s1/3000/"],
    ["/a?b#c", "/preview/s1/3000/a?b#c"],
    ["a/b", "a/b"],
    ["", ""],
    ["http://h:1/a", "/preview/s1/3000/a"],
    ["HTTPS://h:1/a", "/preview/s1/3000/a"],
    ["//h:1/a", "/preview/s1/3000/a"],
    ["http://h:1", "/preview/s1/3000/"],
    ["http://h:1?b", "/preview/s1/3000/?b"],
    ["http://h:1?b/c", "/preview/s1/3000/?b/c"],
    ["http://h:1#b", "/preview/s1/3000/#b"],
    ["http://localhost:3000/a", "/preview/s1/3000/a"],
    ["http://127.0.0.1:3000/a//b", "/preview/s1/3000/a//b"],
    ["http://localhost:3001/a", "http://localhost:3001/a"],
    ["https://other.example/a", "https://other.example/a"],
    ["ftp://h:1/a", "ftp://h:1/a"],
    ["x/http://h:1/a", "x/http://h:1/a"],
    ["/x//h:1/a", "/preview/s1/3000/x//h:1/a"],
    ["/preview/s1/3000", "/preview/s1/3000"],
    ["/preview/s1/3000/a", "/preview/s1/3000/a"],
    ["/preview/s1/30001/a", "/preview/s1/3000/preview/s1/30001/a"],
  ])("by path turns a redirect to %j into one to %j", (location, expected) => {
    expect(previewResponseHeaders(message({ location }), byPath, "h:1")).toEqual({
      ...{ location: expected, "content-security-policy": ownOrigin },
    });
  });
});

describe("the target of a preview", () => {
  const nan = Number.NaN;
  test.each([
    ["3000-1ab.localhost", "/a?b", { sandboxId: "1ab", port: 3000, path: "/a?b", prefix: "" }],
    ["3000-1AB.LocalHost:8080", "/", { sandboxId: "1ab", port: 3000, path: "/", prefix: "" }],
    ["1ab.localhost:80", "/", { sandboxId: "1ab", port: nan, path: "/", prefix: "" }],
    ["3000-1ab.localhost", "*", { sandboxId: "1ab", port: 3000, path: "/", prefix: "" }],
    [
      "3000-1ab.localhost",
      "/preview/2/80/",
      { sandboxId: "1ab", port: 3000, path: "/preview/2/80/", prefix: "" },
    ],
    ["x3000-1ab.localhost", "/", undefined],
    ["3000-ab1.localhost", "/", undefined],
    ["3000-1ab.localhost.example", "/", undefined],
    ["3000-1ab.localhost:80x", "/", undefined],
    ["3000-1abxlocalhost", "/", undefined],
    ["a.3000-1ab.localhost", "/", undefined],
    [undefined, "/", undefined],
    ["h", "/v1/preview/1ab/80/", undefined],
    ["h", "/previews/1ab/80/", undefined],
    ["h", "/preview/1ab/80/a?b", { sandboxId: "1ab", port: 80, path: "/a?b", prefix: "/preview/1ab/80" }],
    ["h", "/preview/1ab/80", { sandboxId: "1ab", port: 80, path: "", prefix: "/preview/1ab/80" }],
    ["h", "/preview/1ab/80?b", { sandboxId: "1ab", port: 80, path: "?b", prefix: "/preview/1ab/80" }],
    ["h", "/preview/1ab/x80/", { sandboxId: "1ab", port: nan, path: "/", prefix: "/preview/1ab/x80" }],
    ["h", "/preview/1ab/80x/", { sandboxId: "1ab", port: nan, path: "/", prefix: "/preview/1ab/80x" }],
    ["h", "/preview/1ab/0x50/", { sandboxId: "1ab", port: nan, path: "/", prefix: "/preview/1ab/0x50" }],
    ["h", "/preview/1ab/8e1/", { sandboxId: "1ab", port: nan, path: "/", prefix: "/preview/1ab/8e1" }],
    ["h", "/preview/1ab?b", { sandboxId: "1ab", port: nan, path: "b", prefix: "/preview/1ab/" }],
    ["h", "/preview/", { sandboxId: "", port: nan, path: "", prefix: "/preview//" }],
  ])("for the host %s and the path %s is %o", (host, url, expected) => {
    expect(previewTarget(message({ host }, url))).toEqual(expected);
  });

  test.each([
    ["http://127.0.0.1:8080", "http://1ab.localhost:8080/", "http://{port}-1ab.localhost:8080/"],
    ["http://127.0.0.1", "http://1ab.localhost/", "http://{port}-1ab.localhost/"],
  ])("below %s has its URLs in the sandbox's record", (base, url, template) => {
    expect(previewUrls("1ab", base)).toEqual({
      preview_url: url,
      preview_url_template: template,
      preview_path_template: `${base}/preview/1ab/{port}/`,
    });
  });
});

describe("to and from an agent the gateway", () => {
  test.each<[string, Headers, string[]]>([
    [
      "a token for this sandbox",
      { authorization: `Bearer ${ours}`, accept: "a" },
      ["accept", "authorization"],
    ],
    ["no token for another", { authorization: `Bearer ${encoded({ sub: "s2" })}` }, []],
    ["no token for nobody", { authorization: "Bearer a.b" }, []],
    ["no other credential", { "x-api-key": "k", "x-api-secret": "s", cookie: "c", accept: "a" }, ["accept"]],
    ["nothing undefined", { accept: undefined }, []],
  ])("passes on %s", (_, headers, kept) => {
    expect(Object.keys(forwardedRequestHeaders({ headers }, "s1")).sort()).toEqual(kept);
  });

  test.each([
    ...["set-cookie", "set-cookie2", "alt-svc", "accept-ch", "nel", "report-to", "clear-site-data"],
    ...["service-worker-allowed", "strict-transport-security", "access-control-allow-origin"],
  ])("does not pass on %s, which applies to the whole origin", (name) => {
    expect(isOriginWide(name)).toBe(true);
    expect(forwardedResponseHeaders({ headers: { [name]: "1", etag: "2" } })).toEqual({ etag: "2" });
  });

  test.each([
    ...["connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection"],
    ...["te", "trailer", "transfer-encoding", "upgrade", "expect"],
  ])("does not pass on %s, which belongs to one connection", (name) => {
    expect(messageHeaders({ headers: { [name]: "1", etag: "2" } })).toEqual({ etag: "2" });
  });
});

test.each<[string, string, object]>([
  ["claims", ours, { iss: tokenIssuer, sub: "s1" }],
  ["a number", encoded(5), {}],
  ["null", encoded(null), {}],
  ["text", "nonsense", {}],
  ["nothing", "", {}],
  ["what is no JSON", "a.!!!.c", {}],
])("the claims of a token with %s are read, or empty", (_, token, expected) => {
  expect(claimsOf(token)).toEqual(expected);
});

test("the subject of a token is a text or undefined", () => {
  expect(subjectOf(ours)).toBe("s1");
  expect(subjectOf(encoded({ sub: 5 }))).toBeUndefined();
});
