import fc from "fast-check";
import type { Draft } from "./request-arbitrary.js";

/** Changes a request so that it no longer follows the contract. */
export type Bend = (draft: Draft) => Draft;

const deep = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;

/** JSON values on which servers often fail. */
export const oddValues: readonly unknown[] = [
  ...[null, true, "", "\0", "a\0b", "\ud800", "../../etc/passwd", "x".repeat(70_000)],
  ...[0, -1, 1.5, -0, 2 ** 31, 2 ** 53, 1e308, "1", "NaN"],
  ...[
    [],
    {},
    [[]],
    [null],
    { toString: 1, constructor: null },
    JSON.parse('{"__proto__": {"polluted": true}}'),
    JSON.parse(deep(500)),
  ],
];
/** Bodies that are not valid JSON, or only just. */
const oddBytes = [
  ...[
    "{",
    '{"a":',
    "nul",
    "",
    " ",
    "[]",
    '"text"',
    "0",
    "null",
    '{"code":"1","code":2}',
    `${deep(20_000)}`,
    "\ufeff{}",
  ],
].map((text) => Buffer.from(text));
const notUtf8 = Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0xfe, 0xc0, 0x22, 0x7d]);
/** Texts for paths and queries, percent-encoded correctly or wrongly. */
const oddText = [
  ...[
    "",
    "%",
    "%zz",
    "%00",
    "%ff%fe",
    "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "..",
    "%2F",
    "-1",
    "1e9",
    "true",
    "null",
  ],
  ...[
    "%F0%9F%98%80",
    "x".repeat(6000),
    "%0d%0aX-Injected:%201",
    "[object%20Object]",
    "__proto__",
    "*",
    "a%20b",
  ],
];
const oddHeaders: Readonly<Record<string, string | undefined>>[] = [
  ...[
    "text/plain",
    "application/xml",
    "application/json; charset=utf-16",
    "multipart/form-data",
    "\xe9",
    "",
  ].map((type) => ({ "content-type": type })),
  { "content-type": undefined },
  ...["", "Bearer", "Bearer ", "Bearer not.a.token", "Basic eDp5", `Bearer ${"a".repeat(9000)}`].map(
    (authorization) => ({
      authorization,
      "x-api-key": undefined,
    }),
  ),
  { authorization: undefined, "x-api-key": undefined },
  { "x-api-key": "wrong", authorization: undefined },
  { "x-request-id": "x".repeat(5000) },
  { "x-request-id": '"<script>\xff' },
  { accept: "text/event-stream" },
  { accept: "image/png;q=0" },
  { range: "bytes=0-0" },
  { range: "bytes=9-1,-5" },
  { "if-none-match": "*" },
  { "accept-encoding": "gzip, br" },
  { "content-encoding": "gzip" },
  { expect: "100-continue" },
  { connection: "close" },
  { host: "evil.example:1" },
  { "idempotency-key": "same" },
  { "x-forwarded-for": "10.0.0.1", forwarded: "for=10.0.0.1" },
  { cookie: "a=b" },
  { "x-large": "x".repeat(20_000) },
];
const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY"];

const oddValue = fc.oneof(fc.constantFrom(...oddValues), fc.jsonValue({ maxDepth: 2 }));

const changedField = fc.record({ at: fc.nat(20), value: fc.option(oddValue, { nil: undefined }) }).map(
  ({ at, value }): Bend =>
    (draft) => {
      if (typeof draft.json !== "object" || draft.json === null) return { ...draft, json: value };
      const fields = Object.entries(draft.json);
      const chosen = fields[at % Math.max(1, fields.length)]?.[0] ?? "extra";
      return { ...draft, json: { ...draft.json, [chosen]: value } };
    },
);
const extraField = fc.tuple(fc.string({ maxLength: 20 }), oddValue).map(
  ([name, value]): Bend =>
    (draft) => ({ ...draft, json: { ...(draft.json as object | undefined), [name]: value } }),
);
const otherJson = oddValue.map(
  (json): Bend =>
    (draft) => ({ ...draft, json }),
);
const otherBytes = fc
  .oneof(
    fc.constantFrom(...oddBytes, notUtf8),
    fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
  )
  .map(
    (bytes): Bend =>
      (draft) => ({ ...draft, bytes }),
  );
const otherQuery = fc
  .tuple(fc.nat(9), fc.constantFrom(...oddText), fc.constantFrom("replace", "repeat", "remove"))
  .map(
    ([at, value, how]): Bend =>
      (draft) => {
        const index = at % Math.max(1, draft.query.length);
        const name = draft.query[index]?.[0] ?? "unknown";
        const others = how === "repeat" ? draft.query : draft.query.filter((_, other) => other !== index);
        return { ...draft, query: how === "remove" ? others : [...others, [name, value]] };
      },
  );
const otherParam = fc.tuple(fc.nat(3), fc.constantFrom(...oddText)).map(
  ([at, value]): Bend =>
    (draft) => {
      const names = Object.keys(draft.params);
      const name = names[at % Math.max(1, names.length)];
      return name === undefined ? draft : { ...draft, params: { ...draft.params, [name]: value } };
    },
);
const otherHeaders = fc.constantFrom(...oddHeaders).map(
  (headers): Bend =>
    (draft) => ({ ...draft, headers: { ...draft.headers, ...headers } }),
);
const otherMethod = fc.constantFrom(...methods).map(
  (method): Bend =>
    (draft) => ({ ...draft, method }),
);
const otherPath = fc.constantFrom("/", "/x", "//", "/%2e%2e", "/..;/").map(
  (more): Bend =>
    (draft) => ({ ...draft, path: draft.path + more }),
);

export const bends: fc.Arbitrary<Bend> = fc.oneof(
  { arbitrary: changedField, weight: 6 },
  { arbitrary: extraField, weight: 1 },
  { arbitrary: otherJson, weight: 2 },
  { arbitrary: otherBytes, weight: 2 },
  { arbitrary: otherQuery, weight: 4 },
  { arbitrary: otherParam, weight: 3 },
  { arbitrary: otherHeaders, weight: 3 },
  { arbitrary: otherMethod, weight: 1 },
  { arbitrary: otherPath, weight: 1 },
);
