import { type Content, MultipartForm } from "./multipart.js";
import type { RequestBody } from "./transport.js";

/**
 * Encodes a request body: JSON, a file as it is, or a multipart form if a field is a file. Fields come before files in
 * the form, so that a server can stream the file to its destination.
 */
export function encoded(body: object): RequestBody {
  if (isFile(body) || isStream(body)) return body;
  if (isForm(body)) return new MultipartForm(body.entries());
  const fields: [string, unknown][] = Object.entries(body);
  const files = fields.filter((field): field is [string, Content] => isFile(field[1]));
  if (files.length === 0) return JSON.stringify(body);
  const texts = fields.filter(([, value]) => !isFile(value));
  return new MultipartForm([
    ...texts.map(([name, value]): [string, string] => [name, String(value)]),
    ...files,
  ]);
}

/** Whether a body is a form. By its tag, because Node.js loads its whole fetch when the name `FormData` is used. */
function isForm(body: object): body is FormData {
  return Object.prototype.toString.call(body) === "[object FormData]";
}

function isFile(value: unknown): value is Content {
  return value instanceof Blob || value instanceof Uint8Array;
}

/** Looks for a method instead of using `instanceof`, because naming the class makes Node.js load it. */
function isStream(value: object): value is ReadableStream<Uint8Array> {
  return "getReader" in value;
}
