import { type Context, Hono } from "hono";
import type { Contract, ContractTypes, Operation } from "../contract.js";
import { Call } from "./call.js";
import type { Envelope } from "./envelopes.js";
import type { Handlers } from "./handlers.js";
import { readJsonBody } from "./json-body.js";
import { Problem } from "./problem.js";
import { readQuery } from "./query.js";
import { requestId } from "./request-id.js";
import { validate } from "./validation-problem.js";

export interface ContractRouterOptions<Types extends ContractTypes, Auth> {
  readonly contract: Contract<Types>;
  readonly handlers: Handlers<Types, Auth>;
  /** How this plane words an error. */
  readonly envelope: Envelope;
  /** Who is calling: runs before the body is read, for operations that need credentials. Throws a `Problem` to refuse. */
  readonly authenticate: (request: UnauthenticatedCall) => Auth | Promise<Auth>;
  /** The largest JSON body, in bytes. */
  readonly bodyLimit: number;
  /** Told of every answer, once it is decided (a stream goes on after that). */
  readonly onRequest?: (event: RequestEvent) => void;
  /** Told of errors that are not `Problem`s: the caller sees a 500 that says nothing about them. */
  readonly onError?: (
    error: unknown,
    event: { readonly requestId: string; readonly operationId: string | undefined },
  ) => void;
}

export interface UnauthenticatedCall {
  readonly operation: Operation;
  readonly params: Readonly<Record<string, string>>;
  readonly header: (name: string) => string | undefined;
}

export interface RequestEvent {
  /** `undefined` where the request matched no operation. */
  readonly operationId: string | undefined;
  readonly requestId: string;
  readonly method: string;
  readonly status: number;
  readonly durationMs: number;
}

/** A server for a contract: routes, authenticates, validates, and answers in the plane's own words. */
export function contractRouter<Types extends ContractTypes, Auth>(
  options: ContractRouterOptions<Types, Auth>,
): Hono {
  const { contract, envelope, onRequest, onError } = options;
  const handlers = options.handlers as Readonly<Record<string, AnyHandler | undefined>>;
  const app = new Hono();

  for (const operation of contract.operations) {
    const handler = handlers[operation.operationId];
    app.on(operation.method, honoPath(operation.path), (context) =>
      answer(context, operation.operationId, (id, headers) =>
        perform(context, operation, handler, id, headers),
      ),
    );
  }
  app.notFound((context) =>
    answer(context, undefined, () =>
      Promise.reject(unmatched(contract.operations, context.req.method, context.req.path)),
    ),
  );
  return app;

  async function perform(
    context: Context,
    operation: Operation,
    handler: AnyHandler | undefined,
    id: string,
    headers: Record<string, string>,
  ): Promise<Response> {
    const params = context.req.param() as Record<string, string>;
    const header = (name: string) => context.req.header(name);
    const auth = operation.authenticated
      ? await options.authenticate({ operation, params, header })
      : undefined;
    if (!handler) throw unavailable(operation);

    const query = operation.query ? readQuery(context.req, operation.query.types) : {};
    if (operation.query) validate(operation.query, query);
    const body = operation.body && (await readJsonBody(context.req.raw, options.bodyLimit));
    if (operation.body && (body !== undefined || operation.body.required))
      validate(operation.body, body ?? {});

    const result = await handler(new Call(context, operation, id, headers, params, query, body, auth));
    return result instanceof Response
      ? withHeaders(result, headers)
      : json(result, operation.status, headers);
  }

  async function answer(context: Context, operationId: string | undefined, work: Work): Promise<Response> {
    const started = performance.now();
    const id = requestId(context.req.header("x-request-id"));
    const headers = { "x-request-id": id };
    const response = await work(id, headers).catch((error: unknown) => {
      if (!(error instanceof Problem)) onError?.(error, { requestId: id, operationId });
      const problem = error instanceof Problem ? error : internal(id);
      const body = envelope(problem, { requestId: id, timestamp: new Date().toISOString() });
      return json(body, problem.status, { ...headers, ...problem.headers });
    });
    const { status } = response;
    onRequest?.({
      operationId,
      requestId: id,
      method: context.req.method,
      status,
      durationMs: performance.now() - started,
    });
    return response;
  }
}

type AnyHandler = (call: Call) => unknown;
type Work = (id: string, headers: Record<string, string>) => Promise<Response>;

const honoPath = (path: string) => path.replace(/\{(\w+)\}/g, ":$1");

/** Plain headers and a string body: the form that @hono/node-server writes without building a WHATWG response. */
function json(body: unknown, status: number, headers: Record<string, string>): Response {
  if (body === undefined) return new Response(null, { status, headers });
  return new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json", ...headers },
  });
}

function withHeaders(response: Response, headers: Record<string, string>): Response {
  const merged = new Headers(response.headers);
  for (const [name, value] of Object.entries(headers)) merged.set(name, value);
  return new Response(response.body, {
    status: response.status,
    statusText: response.statusText,
    headers: merged,
  });
}

function unmatched(operations: readonly Operation[], method: string, path: string): Problem {
  const matching = operations.filter((operation) => !operation.upgrade && pattern(operation.path).test(path));
  if (matching.length === 0) return new Problem(404, "NOT_FOUND", `There is no ${method} ${path}.`);
  const methods = new Set<string>(matching.map((operation) => operation.method));
  if (methods.has("GET")) methods.add("HEAD");
  const allow = [...methods].sort().join(", ");
  return new Problem(405, "METHOD_NOT_ALLOWED", `${method} is not allowed on ${path}: use ${allow}.`, {
    headers: { allow },
  });
}

const pattern = (path: string) => new RegExp(`^${path.replace(/[.]/g, "\\.").replace(/\{\w+\}/g, "[^/]+")}$`);

function unavailable({ method, path, upgrade }: Operation): Problem {
  if (!upgrade) return new Problem(404, "NOT_FOUND", `${method} ${path} is not available on this server.`);
  const headers = { upgrade: "websocket", connection: "upgrade" };
  return new Problem(426, "INVALID_REQUEST", `${path} is a WebSocket: connect with an upgrade.`, { headers });
}

const internal = (id: string) =>
  new Problem(
    500,
    "INTERNAL_ERROR",
    `Something went wrong here. The server's log has the cause under ${id}.`,
  );
