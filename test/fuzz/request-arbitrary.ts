import fc from "fast-check";
import type { DocumentedOperation, Parameter } from "../support/documents/contract-document.js";
import { type Bend, bends } from "./bends.js";
import type { SchemaArbitraries } from "./schema-arbitrary.js";

/** A request before it is written down as bytes. */
export interface Draft {
  readonly method: string;
  readonly path: string;
  /** Path parameters, written in place of `{name}` without encoding. */
  readonly params: Readonly<Record<string, string>>;
  /** Query parameters, written without encoding. */
  readonly query: readonly (readonly [string, string])[];
  /** Headers of the request. `undefined` leaves out a header that is otherwise sent. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The body as a value, sent as JSON. */
  readonly json?: unknown;
  /** The body as bytes, sent instead of `json`. */
  readonly bytes?: Buffer;
}

export interface FuzzRequest {
  readonly method: string;
  /** Path and query as sent. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body?: Buffer;
}

/** Requests to an operation: some follow the contract, the others are changed in one or more places. */
export function requestsFor(
  operation: DocumentedOperation,
  arbitraries: SchemaArbitraries,
): fc.Arbitrary<FuzzRequest> {
  const documented = drafts(operation, arbitraries);
  const bent = fc
    .tuple(documented, fc.array(bends, { minLength: 1, maxLength: 2 }))
    .map(([draft, some]) => some.reduce((result: Draft, bend: Bend) => bend(result), draft));
  return fc.oneof({ arbitrary: documented, weight: 2 }, { arbitrary: bent, weight: 3 }).map(written);
}

function drafts(operation: DocumentedOperation, arbitraries: SchemaArbitraries): fc.Arbitrary<Draft> {
  const { method, path } = operation;
  return fc
    .record({
      params: values(operation, arbitraries, "path"),
      query: values(operation, arbitraries, "query"),
      headers: values(operation, arbitraries, "header"),
      content: content(operation, arbitraries),
    })
    .map(({ params, query, headers, content }) => ({
      method,
      path,
      params: Object.fromEntries(Object.entries(params).map(([name, value]) => [name, encoded(value)])),
      query: Object.entries(query).map(([name, value]) => [name, encoded(value)] as const),
      ...content,
      headers: {
        ...content.headers,
        ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, encoded(value)])),
      },
    }));
}

function values(operation: DocumentedOperation, arbitraries: SchemaArbitraries, kind: Parameter["in"]) {
  const parameters = operation.parameters.filter((parameter) => parameter.in === kind);
  return fc.record(
    Object.fromEntries(parameters.map(({ name, schema }) => [name, arbitraries.value(schema, name)])),
    { requiredKeys: parameters.filter(({ required }) => required).map(({ name }) => name) },
  );
}

type Content = Pick<Draft, "headers" | "json" | "bytes">;

function content({ body }: DocumentedOperation, arbitraries: SchemaArbitraries): fc.Arbitrary<Content> {
  const none: fc.Arbitrary<Content> = fc.constant({ headers: {} });
  if (!body) return none;
  const kinds = Object.entries(body.content).map(([media, { schema }]): fc.Arbitrary<Content> => {
    const headers = { "content-type": media };
    if (media === "application/json") return arbitraries.value(schema).map((json) => ({ headers, json }));
    if (media === "multipart/form-data")
      return fc.shuffledSubarray(formParts).map((parts) => ({
        headers: { "content-type": `${media}; boundary=${boundary}` },
        bytes: Buffer.from(
          `${parts.map((part) => `--${boundary}\r\n${part}\r\n`).join("")}--${boundary}--\r\n`,
        ),
      }));
    return fc.uint8Array({ maxLength: 64 }).map((bytes) => ({ headers, bytes: Buffer.from(bytes) }));
  });
  return fc.oneof(...kinds, ...(body.required ? [] : [none]));
}

const boundary = "parts";
const field = "Content-Disposition: form-data; name=";
const formParts = [
  `${field}"file"; filename="upload.bin"\r\nContent-Type: application/octet-stream\r\n\r\nbytes`,
  `${field}"file"; filename="../../escape"\r\n\r\nbytes`,
  `${field}"path"\r\n\r\n/workspace/uploaded`,
  `${field}"path"\r\n\r\n/etc/passwd`,
  `${field}"version"\r\n\r\n1`,
  "X-Odd: 1\r\n\r\nno name",
];

/** Percent-encodes a value. A lone surrogate has no encoding, so it is replaced first. */
const encoded = (value: unknown) => encodeURIComponent(Buffer.from(String(value)).toString());

function written({ method, path, params, query, headers, json, bytes }: Draft): FuzzRequest {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => params[name] ?? "");
  const search = query.map(([name, value]) => `${name}=${value}`).join("&");
  const body = bytes ?? (json === undefined ? undefined : Buffer.from(JSON.stringify(json)));
  return {
    method,
    target: search === "" ? filled : `${filled}?${search}`,
    headers,
    ...(body && { body }),
  };
}
