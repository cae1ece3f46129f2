import openapiFetch, { type Client, type ClientOptions } from "openapi-fetch";
import { Channel, type ChannelOptions } from "./channel.js";
import { LightRequest } from "./http/light-request.js";
import { type Content, MultipartForm } from "./http/multipart.js";

/** In a CommonJS build the import is the module object, with the function as its `default`. */
const imported: typeof openapiFetch & { default?: typeof openapiFetch } = openapiFetch;
const createClient = imported.default ?? imported;

/** Creates a client for the operations of an API, with its own channel. */
export function openapiClient<Paths extends object>(options: ChannelOptions): Client<Paths> {
  const channel = new Channel(options);
  const wiring: ClientOptions = {
    baseUrl: channel.baseUrl,
    fetch: channel.fetch,
    Request: LightRequest as typeof Request,
    bodySerializer: serialized,
  };
  return createClient<Paths>(wiring);
}

/**
 * Encodes a request body: JSON, a file as it is, or a multipart form if a field is a file. Fields come before files in
 * the form, so that a server can stream the file to its destination.
 */
function serialized(body: object | undefined): string | Content | MultipartForm | ReadableStream<Uint8Array> {
  if (isFile(body) || isStream(body)) return body;
  if (isForm(body)) return new MultipartForm(body.entries());
  const fields: [string, unknown][] = Object.entries(body ?? {});
  const files = fields.filter((field): field is [string, Content] => isFile(field[1]));
  if (files.length === 0) return JSON.stringify(body);
  const texts = fields.filter(([, value]) => !isFile(value));
  return new MultipartForm([
    ...texts.map(([name, value]): [string, string] => [name, String(value)]),
    ...files,
  ]);
}

/** Whether a body is a form. By its tag, because Node.js loads its whole fetch when the name `FormData` is used. */
function isForm(body: object | undefined): body is FormData {
  return Object.prototype.toString.call(body) === "[object FormData]";
}

function isFile(value: unknown): value is Content {
  return value instanceof Blob || value instanceof Uint8Array;
}

/** Looks for a method instead of using `instanceof`, because naming the class makes Node.js load it. */
function isStream(value: object | undefined): value is ReadableStream<Uint8Array> {
  return value !== undefined && "getReader" in value;
}
