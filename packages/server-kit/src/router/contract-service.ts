import { TrieRouter } from "hono/router/trie-router";
import {
  type Exchange,
  headerOf,
  type NodeExchange,
  Reply,
  type ReplyBody,
  readJsonBody,
  requestId,
  targetOf,
} from "../http/exchange.js";
import { type Envelope, internalProblem, Problem } from "../http/problem.js";
import type { Contract, ContractTypes, Operation } from "./contract.js";
import { Call, type Handlers } from "./handlers.js";
import { requireWellFormed, validate } from "./validation.js";

export interface ContractServiceOptions<
  Types extends ContractTypes,
  Auth,
  Over extends Exchange = NodeExchange,
> {
  readonly contract: Contract<Types>;
  /** The handlers, or a function that returns those of a caller. Its argument is undefined for operations that need no credentials. */
  readonly handlers: Handlers<Types, Auth, Over> | ((auth: Auth | undefined) => Handlers<Types, Auth, Over>);
  /**
   * The refusal of an operation without a handler. Called before the input is validated. Default: a 404 problem.
   */
  readonly unavailable?: (operation: Operation) => Problem | undefined;
  /** Formats errors. */
  readonly envelope: Envelope;
  /** Runs before anything else. May add headers to any answer, or throw a `Problem` to refuse the request. */
  readonly admit?: (request: Over["request"], responseHeaders: Record<string, string>) => void;
  /**
   * Identifies the caller. Runs before the body is read, for operations that need credentials. Throws a `Problem` to
   * refuse the request.
   */
  readonly authenticate: (request: UnauthenticatedCall) => Auth | Promise<Auth>;
  /** Size of the largest JSON body, in bytes. A function if it is not the same for all operations. */
  readonly bodyLimit: number | ((operation: Operation) => number);
  /**
   * Whether texts of JSON bodies are stored and shown to other callers. They must then be well-formed Unicode, or
   * strict readers could not parse them.
   */
  readonly keepsTexts?: (operation: Operation) => boolean;
  /** Called for every answer when its status is known. The body of a streamed answer is still to be sent then. */
  readonly onRequest?: (event: RequestEvent<Auth, Over>) => void;
  /** Called for errors that are not `Problem`s. The caller only gets a 500 with the request id. */
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

export interface RequestEvent<Auth = unknown, Over extends Exchange = NodeExchange> {
  /** `undefined` if the request matched no operation. */
  readonly operation: Operation | undefined;
  readonly requestId: string;
  readonly method: string;
  readonly status: number;
  readonly durationMs: number;
  readonly request: Over["request"];
  readonly params: Readonly<Record<string, string>>;
  /** Undefined if the caller was not identified. */
  readonly auth: Auth | undefined;
  readonly reply: Reply<ReplyBody<Over>>;
}

/** Answers a request. `gone` returns a signal that aborts when the client no longer waits for the answer. */
export type ContractService<Over extends Exchange = NodeExchange> = (
  request: Over["request"],
  gone: () => AbortSignal,
) => Promise<Reply<ReplyBody<Over>>>;

/** Serves a contract over any transport: routes, authenticates and validates requests, and formats errors. */
export function contractService<Types extends ContractTypes, Auth, Over extends Exchange = NodeExchange>(
  options: ContractServiceOptions<Types, Auth, Over>,
): ContractService<Over> {
  type Answer = Reply<ReplyBody<Over>>;
  const { contract, envelope, onRequest, onError, bodyLimit } = options;
  const limitOf = (operation: Operation) =>
    typeof bodyLimit === "number" ? bodyLimit : bodyLimit(operation);
  const handlersOf = (auth: Auth | undefined) =>
    (typeof options.handlers === "function" ? options.handlers(auth) : options.handlers) as Readonly<
      Record<string, AnyHandler<Over> | undefined>
    >;
  const routes = new OperationRoutes(contract.operations);

  async function perform(
    request: Over["request"],
    { operation, params, query: queryText }: Matched,
    id: string,
    headers: Record<string, string>,
    gone: () => AbortSignal,
    onIdentified: (auth: Auth | undefined) => void,
  ): Promise<Answer> {
    const header = (name: string) => headerOf(request, name);
    const auth = operation.authenticated
      ? await options.authenticate({ operation, params, header })
      : undefined;
    onIdentified(auth);
    const handler = handlersOf(auth)[operation.operationId];
    if (!handler) throw options.unavailable?.(operation) ?? notAvailable(operation);

    const query = operation.query ? readQuery(queryText, operation.query.types) : {};
    if (operation.query) validate(operation.query, query);
    const sent = operation.body && (await readJsonBody(request, limitOf(operation)));
    // Without a body, or with `null`, a required one has no fields: handlers read them from an object.
    const body = operation.body?.required ? (sent ?? {}) : sent;
    if (options.keepsTexts?.(operation)) requireWellFormed(body);
    if (operation.body && body !== undefined) validate(operation.body, body ?? {});

    const result = await handler(new Call(request, operation, id, headers, params, query, body, auth, gone));
    return result instanceof Reply
      ? new Reply<ReplyBody<Over>>(result.body, { ...result.headers, ...headers }, result.status)
      : json(result, operation.status, headers);
  }

  function match(request: Over["request"]): Matched {
    const { path, query } = targetOf(request);
    const { method = "GET" } = request;
    const found = routes.find(method, path);
    if (!found) throw unmatched(routes.methodsAt(path), method, path);
    return { ...found, query };
  }

  async function answer(request: Over["request"], gone: () => AbortSignal): Promise<Answer> {
    const started = performance.now();
    const id = requestId(headerOf(request, "x-request-id"));
    const headers: Record<string, string> = { "x-request-id": id };
    let operation: Operation | undefined;
    let params: Matched["params"] = {};
    let auth: Auth | undefined;
    let reply: Answer;
    try {
      options.admit?.(request, headers);
      const matched = match(request);
      ({ operation, params } = matched);
      reply = await perform(request, matched, id, headers, gone, (caller) => {
        auth = caller;
      });
    } catch (error) {
      if (!(error instanceof Problem))
        onError?.(error, { requestId: id, operationId: operation?.operationId });
      const problem = error instanceof Problem ? error : internalProblem(id);
      const body = envelope(problem, { requestId: id, timestamp: new Date().toISOString() });
      reply = json(body, problem.status, { ...headers, ...problem.headers });
    }
    const { status } = reply;
    const { method = "GET" } = request;
    const durationMs = performance.now() - started;
    onRequest?.({
      operation,
      requestId: id,
      method,
      status,
      durationMs,
      request,
      params,
      auth,
      reply,
    });
    return reply;
  }

  return answer;
}

interface Matched extends FoundOperation {
  readonly query: string;
}

type AnyHandler<Over extends Exchange> = (call: Call<unknown, unknown, unknown, unknown, Over>) => unknown;

function json(
  body: unknown,
  status: number,
  headers: Readonly<Record<string, string>>,
): Reply<string | undefined> {
  if (body === undefined) return new Reply(undefined, headers, status);
  return new Reply(JSON.stringify(body), { "content-type": "application/json", ...headers }, status);
}

function unmatched(allowed: ReadonlySet<string>, method: string, path: string): Problem {
  if (allowed.size === 0) return new Problem(404, "NOT_FOUND", `There is no operation ${method} ${path}.`);
  const methods = new Set(allowed);
  if (methods.has("GET")) methods.add("HEAD");
  const allow = [...methods].sort().join(", ");
  return new Problem(405, "METHOD_NOT_ALLOWED", `${method} is not allowed on ${path}: use ${allow}.`, {
    headers: { allow },
  });
}

function notAvailable({ method, path, upgrade }: Operation): Problem {
  if (!upgrade) return new Problem(404, "NOT_FOUND", `${method} ${path} is not available on this server.`);
  const headers = { upgrade: "websocket" };
  return new Problem(400, "INVALID_REQUEST", `${path} is a WebSocket: connect with an upgrade.`, { headers });
}

/** The operation of a request, with its path parameters decoded. */
interface FoundOperation {
  readonly operation: Operation;
  readonly params: Readonly<Record<string, string>>;
}

/** Finds operations of a contract by method and path. */
export class OperationRoutes {
  readonly #operations = new TrieRouter<Operation>();
  /** The operations that are no WebSockets, by path alone. */
  readonly #paths = new TrieRouter<Operation>();

  constructor(operations: readonly Operation[]) {
    for (const operation of operations) {
      const path = operation.path.replace(/\{(\w+)\}/g, ":$1");
      this.#operations.add(operation.method, path, operation);
      if (!operation.upgrade) this.#paths.add("ALL", path, operation);
    }
  }

  /** The operation at a path without its query. HEAD finds that of GET. */
  find(method: string, path: string): FoundOperation | undefined {
    const [matches] = this.#operations.match(method === "HEAD" ? "GET" : method, path);
    // A literal path takes precedence over one with a parameter.
    const [best] = matches.sort(([a], [b]) => parameters(a) - parameters(b));
    if (!best) return undefined;
    const [operation, raw] = best;
    const entries = Object.entries(raw).map(([name, text]) => [name, decoded(String(text))] as const);
    return { operation, params: Object.fromEntries(entries) };
  }

  /** The methods of the operations at a path, WebSockets aside. */
  methodsAt(path: string): ReadonlySet<string> {
    const [matches] = this.#paths.match("ALL", path);
    return new Set(matches.map(([{ method }]) => method));
  }
}

const parameters = ({ path }: Operation) => path.split("{").length - 1;

/** Decodes a path parameter. One that is not encoded correctly is passed on unchanged; the handler refuses it. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Parses a query and converts the values to the contract's types. A value that cannot be converted stays text, so
 * that the validator reports it.
 */
function readQuery(text: string, types: NonNullable<Operation["query"]>["types"]): Record<string, unknown> {
  const parameters = new URLSearchParams(text);
  const query: Record<string, unknown> = {};
  for (const name of new Set(parameters.keys())) {
    query[name] =
      types[name] === "array" ? parameters.getAll(name) : convert(parameters.get(name) ?? "", types[name]);
  }
  return query;
}

function convert(text: string, type: string | undefined): unknown {
  if (type === "integer" || type === "number") return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
  if (type === "boolean" && (text === "true" || text === "1")) return true;
  if (type === "boolean" && (text === "false" || text === "0")) return false;
  return text;
}
