import {
  type Client,
  createFinalURL,
  createQuerySerializer,
  defaultPathSerializer,
  type HeadersOptions,
} from "openapi-fetch";
import { invalidArgument } from "../errors/errors.js";
import type { Calls } from "./calls/calls.js";
import type { Channel } from "./channel.js";
import { type Content, MultipartForm } from "./http/multipart.js";
import { type BodyForm, isOk, type Received, readAs, readError } from "./http/read-response.js";
import type { RequestBody } from "./http/transport.js";

type Methods = "GET" | "PUT" | "POST" | "DELETE" | "PATCH";

/** The operations of an API. Their types and URLs are openapi-fetch's; a `Channel` sends the requests. */
export type OpenapiClient<Paths extends object> = Pick<Client<Paths>, Methods>;

/** The result of a call. */
export interface Answer<Body> {
  data?: Body;
  error?: unknown;
}

/** Call options that are not part of the API. */
export type CallInit = {
  signal?: AbortSignal;
  /** Seconds until the answer must have arrived, retries included. */
  requestTimeout?: number;
  /** Called with the number of body bytes sent so far in this attempt. */
  onSent?: (bytes: number) => void;
  /** The most bytes to accept of a successful answer, in place of the default; the rest is not received. */
  maxBytes?: number;
  /** Called with an answer that the caller does not get, because a hook threw. */
  onLost?(answer: Promise<Answer<unknown>>): void;
  /** A request of a call that is already running; allowed after close began. */
  isPart?: boolean;
};

/** The options of a call, as far as this client reads them. */
interface OperationInit extends CallInit {
  params?: { path?: Record<string, unknown>; query?: Record<string, unknown>; header?: HeadersOptions };
  headers?: HeadersOptions;
  body?: object;
  parseAs?: BodyForm;
}

/** Creates a client whose calls go through the channel that `find` gives. Closing waits for calls from the moment they are made. */
export function openapiClient<Paths extends object>(
  calls: Calls,
  find: () => Channel | Promise<Channel>,
): OpenapiClient<Paths> {
  const call =
    (method: Methods) =>
    (operation: string, init: OperationInit = {}): Promise<Answer<unknown>> =>
      calls.during(async () => send(await find(), method, operation, init), init.isPart);
  const methods: object = {
    GET: call("GET"),
    PUT: call("PUT"),
    POST: call("POST"),
    DELETE: call("DELETE"),
    PATCH: call("PATCH"),
  };
  return methods as OpenapiClient<Paths>;
}

async function send(channel: Channel, method: Methods, operation: string, init: OperationInit) {
  const { params = {}, parseAs = "json", signal, requestTimeout, onSent, maxBytes, onLost } = init;
  const refused = optionsOfOthers.find((name) => name in init);
  if (refused !== undefined)
    throw invalidArgument(`A call has no option ${refused}.`, "Set it for a SandboxClient of its own.");
  const body = init.body === undefined ? null : encoded(init.body);
  const path = pathOf(operation, params);
  const received = await channel.send({
    method,
    operation,
    path,
    body,
    signal,
    requestTimeout,
    onSent,
    maxBytes,
    headers: requestHeaders(body, init.headers, params.header),
    isParsed: parseAs === "json",
    onLost: onLost && ((lost) => onLost(answerOf(lost, parseAs))),
  });
  return answerOf(received, parseAs);
}

function pathOf(operation: string, params: NonNullable<OperationInit["params"]>): string {
  try {
    return createFinalURL(operation, { baseUrl: "", params, querySerializer, pathSerializer });
  } catch (error) {
    throw error instanceof URIError ? invalidArgument("A name of the call is no UTF-8.") : error;
  }
}

const querySerializer = createQuerySerializer();
const pathSerializer = defaultPathSerializer;

/** Options that openapi-fetch has for a single call. They would lead it past the channel, which has the key. */
const optionsOfOthers = [
  "baseUrl",
  "fetch",
  "Request",
  "middleware",
  "bodySerializer",
  "querySerializer",
  "pathSerializer",
];

/** Makes the result of a call: the data of a successful answer, or the error's body. */
export async function answerOf(received: Received, form: BodyForm): Promise<Answer<unknown>> {
  return isOk(received)
    ? new OperationAnswer(received, await readAs(form, received), undefined)
    : new OperationAnswer(received, undefined, await readError(received));
}

/** The answer that a result was made of. A function of this package, because the answer has the API key. */
export const receivedOf = (answer: Answer<unknown>): Received => OperationAnswer.received(answer);

class OperationAnswer implements Answer<unknown> {
  readonly #received: Received;
  #response: Response | undefined;

  constructor(
    received: Received,
    readonly data: unknown,
    readonly error: unknown,
  ) {
    this.#received = received;
  }

  /** Status and headers for callers of low-level clients. Made when it is read, because it costs more than all else. */
  get response(): Response {
    const { status, headers } = this.#received;
    this.#response ??= new Response(null, { status, headers });
    return this.#response;
  }

  static received(answer: object): Received {
    if (#received in answer) return answer.#received;
    throw new TypeError("The answer is not one that this client received.");
  }
}

function requestHeaders(
  body: RequestBody | null,
  ...sources: (HeadersOptions | undefined)[]
): Record<string, string> {
  const headers: Record<string, string> = {};
  if (body !== null)
    headers["content-type"] = typeof body === "string" ? "application/json" : "application/octet-stream";
  for (const source of sources)
    for (const [key, value] of entriesOf(source ?? {})) {
      const name = String(key).toLowerCase();
      if (value === null) delete headers[name];
      else if (value !== undefined) headers[name] = headerValue(name, String(value));
    }
  if (body instanceof MultipartForm) headers["content-type"] = body.contentType;
  return headers;
}

function headerValue(name: string, value: string): string {
  if (/^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[\t -~\x80-\xff]*$/.test(value)) return value;
  throw invalidArgument(`The header ${JSON.stringify(name)} has invalid characters.`);
}

/** Not made with `Headers`, which Node.js loads with its whole fetch when the name is used. */
const entriesOf = (source: NonNullable<HeadersOptions>): Iterable<readonly unknown[]> =>
  Symbol.iterator in source ? source : Object.entries(source);

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
