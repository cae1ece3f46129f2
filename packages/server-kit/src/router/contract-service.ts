import { TrieRouter } from "hono/router/trie-router";
import type { Contract, ContractTypes, Operation } from "../contract/contract.js";
import type { Envelope } from "../http/envelopes.js";
import type { Exchange, NodeExchange, ReplyBody } from "../http/exchange.js";
import { headerOf, targetOf } from "../http/exchange.js";
import { readJsonBody } from "../http/json-body.js";
import { Problem } from "../http/problem.js";
import { readQuery } from "../http/query.js";
import { Reply } from "../http/reply.js";
import { requestId } from "../http/request-id.js";
import { validate } from "../validation/validation-problem.js";
import { requireWellFormed } from "../validation/well-formed.js";
import { Call } from "./call.js";
import type { Handlers } from "./handlers.js";

export interface ContractServiceOptions<
  Types extends ContractTypes,
  Auth,
  Over extends Exchange = NodeExchange,
> {
  readonly contract: Contract<Types>;
  readonly handlers: Handlers<Types, Auth, Over>;
  /** Why an operation without a handler is refused, whatever its input. Default: it is not available here, 404. */
  readonly unavailable?: (operation: Operation) => Problem | undefined;
  /** How this plane words an error. */
  readonly envelope: Envelope;
  /** Runs before anything else: may add headers to the answer, whatever it will be, or throw a `Problem` to refuse. */
  readonly admit?: (request: Over["request"], responseHeaders: Record<string, string>) => void;
  /** Who is calling: runs before the body is read, for operations that need credentials. Throws a `Problem` to refuse. */
  readonly authenticate: (request: UnauthenticatedCall) => Auth | Promise<Auth>;
  /** The largest JSON body, in bytes. */
  readonly bodyLimit: number;
  /** Whether the texts of JSON bodies are kept and shown to others, who must be able to read them: then they must be well-formed. */
  readonly keepsTexts?: boolean;
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

/** What a request is answered with. `gone` gives a signal that aborts when nobody waits for the answer any more. */
export type ContractService<Over extends Exchange = NodeExchange> = (
  request: Over["request"],
  gone: () => AbortSignal,
) => Promise<Reply<ReplyBody<Over>>>;

/** Answers a contract's requests, whatever they come over: routes, authenticates, validates, words what went wrong. */
export function contractService<Types extends ContractTypes, Auth, Over extends Exchange = NodeExchange>(
  options: ContractServiceOptions<Types, Auth, Over>,
): ContractService<Over> {
  type Answer = Reply<ReplyBody<Over>>;
  const { contract, envelope, onRequest, onError } = options;
  const handlers = options.handlers as Readonly<Record<string, AnyHandler<Over> | undefined>>;
  const routes = new TrieRouter<Operation>();
  for (const operation of contract.operations) {
    routes.add(operation.method, operation.path.replace(/\{(\w+)\}/g, ":$1"), operation);
  }

  async function perform(
    request: Over["request"],
    { operation, params, query: queryText }: Matched,
    id: string,
    headers: Record<string, string>,
    gone: () => AbortSignal,
  ): Promise<Answer> {
    const header = (name: string) => headerOf(request, name);
    const auth = operation.authenticated
      ? await options.authenticate({ operation, params, header })
      : undefined;
    const handler = handlers[operation.operationId];
    if (!handler) throw options.unavailable?.(operation) ?? notAvailable(operation);

    const query = operation.query ? readQuery(queryText, operation.query.types) : {};
    if (operation.query) validate(operation.query, query);
    const body = operation.body && (await readJsonBody(request, options.bodyLimit));
    if (options.keepsTexts) requireWellFormed(body);
    if (operation.body && (body !== undefined || operation.body.required))
      validate(operation.body, body ?? {});

    const result = await handler(new Call(request, operation, id, headers, params, query, body, auth, gone));
    return result instanceof Reply
      ? new Reply<ReplyBody<Over>>(result.body, { ...result.headers, ...headers }, result.status)
      : json(result, operation.status, headers);
  }

  function match(request: Over["request"]): Matched {
    const { path, query } = targetOf(request);
    const method = request.method ?? "GET";
    const [matches] = routes.match(method === "HEAD" ? "GET" : method, path);
    // A path that is spelled out is meant, not one with a parameter that it fits too.
    const [best] = matches.sort(([a], [b]) => parameters(a) - parameters(b));
    if (!best) throw unmatched(contract.operations, method, path);
    const [operation, raw] = best;
    const params = Object.fromEntries(
      Object.entries(raw).map(([name, text]) => [name, decoded(String(text))]),
    );
    return { operation, params, query };
  }

  async function answer(request: Over["request"], gone: () => AbortSignal): Promise<Answer> {
    const started = performance.now();
    const id = requestId(headerOf(request, "x-request-id"));
    const headers: Record<string, string> = { "x-request-id": id };
    let operationId: string | undefined;
    let reply: Answer;
    try {
      options.admit?.(request, headers);
      const matched = match(request);
      operationId = matched.operation.operationId;
      reply = await perform(request, matched, id, headers, gone);
    } catch (error) {
      if (!(error instanceof Problem)) onError?.(error, { requestId: id, operationId });
      const problem = error instanceof Problem ? error : internal(id);
      const body = envelope(problem, { requestId: id, timestamp: new Date().toISOString() });
      reply = json(body, problem.status, { ...headers, ...problem.headers });
    }
    const { status } = reply;
    const { method = "GET" } = request;
    onRequest?.({ operationId, requestId: id, method, status, durationMs: performance.now() - started });
    return reply;
  }

  return answer;
}

interface Matched {
  readonly operation: Operation;
  readonly params: Readonly<Record<string, string>>;
  readonly query: string;
}

const parameters = ({ path }: Operation) => path.split("{").length - 1;

/** What is not well encoded is for the handler to refuse, as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
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

function notAvailable({ method, path, upgrade }: Operation): Problem {
  if (!upgrade) return new Problem(404, "NOT_FOUND", `${method} ${path} is not available on this server.`);
  const headers = { upgrade: "websocket" };
  return new Problem(400, "INVALID_REQUEST", `${path} is a WebSocket: connect with an upgrade.`, { headers });
}

const internal = (id: string) =>
  new Problem(
    500,
    "INTERNAL_ERROR",
    `Something went wrong here. The server's log has the cause under ${id}.`,
  );
