import { type Exchange, headerOf, type NodeExchange, type Reply, type ReplyBody } from "../http/exchange.js";
import type { ContractTypes, Operation } from "./contract.js";

/**
 * The handlers of a contract, by operation id. A handler returns the JSON of a success, or a `Reply` for any other
 * answer, and throws a `Problem` to refuse. An operation without a handler answers 404.
 */
export type Handlers<Types extends ContractTypes, Auth, Over extends Exchange = NodeExchange> = {
  readonly [Id in keyof Types["operations"] & string]?: Handler<Types, Id, Auth, Over>;
};

export type Handler<
  Types extends ContractTypes,
  Id extends keyof Types["operations"] & string,
  Auth,
  Over extends Exchange = NodeExchange,
> = (
  call: Call<
    PathOf<Types["operations"][Id]>,
    Defaulted<QueryOf<Types["operations"][Id]>, Types["defaults"], Id, "query">,
    Defaulted<BodyOf<Types["operations"][Id]>, Types["defaults"], Id, "body">,
    Id extends Types["public"] ? undefined : Auth,
    Over
  >,
) => Answer<Types["operations"][Id], Over> | Promise<Answer<Types["operations"][Id], Over>>;

type PathOf<Operation> = Operation extends { parameters: { path: infer Path extends object } }
  ? Path
  : Nothing;

type QueryOf<Operation> = Operation extends { parameters: { query?: infer Query } }
  ? OrNothing<NonNullable<Query>>
  : Nothing;

type BodyOf<Operation> = Operation extends { requestBody: { content: { "application/json": infer Body } } }
  ? Body
  : Operation extends { requestBody?: infer Request }
    ? OptionalBody<NonNullable<Request>>
    : undefined;

type OptionalBody<Request> = [Request] extends [never]
  ? undefined
  : Request extends { content: { "application/json": infer Body } }
    ? Body | undefined
    : undefined;

/** The input of a handler: fields with a default are always present, because the validator fills them in. */
type Defaulted<Value, Defaults, Id, Part extends string> = Value extends object
  ? Id extends keyof Defaults
    ? Defaults[Id] extends { [Key in Part]: infer Names }
      ? Value & Required<Pick<Value, Names & keyof Value>>
      : Value
    : Value
  : Value;

type Answer<Operation, Over extends Exchange> = Operation extends { responses: infer Responses }
  ? Reply<ReplyBody<Over>> | JsonOf<Responses[keyof Responses & Success]>
  : Reply<ReplyBody<Over>>;

type Success = 200 | 201 | 202 | 204;

/**
 * The JSON of an answer: `undefined` for an answer without content, `never` if the content is not JSON and needs a
 * `Reply`.
 */
type JsonOf<Reply> = Reply extends { content: { "application/json": infer Json } }
  ? Json
  : Reply extends { content: object }
    ? never
    : undefined;

type Nothing = Record<never, never>;
type OrNothing<Value> = [Value] extends [never] ? Nothing : Value;

/** One request as a handler sees it: its validated input and what is known about the caller. */
export class Call<
  Params = unknown,
  Query = unknown,
  Body = unknown,
  Auth = unknown,
  Over extends Exchange = NodeExchange,
> {
  constructor(
    /** The request itself. Its body is still unread if the contract declares no JSON body. */
    readonly request: Over["request"],
    readonly operation: Operation,
    readonly requestId: string,
    /** Headers to add to the answer, whether it succeeds or not. Names are in lower case. */
    readonly responseHeaders: Record<string, string>,
    readonly params: Params,
    readonly query: Query,
    readonly body: Body,
    readonly auth: Auth,
    private readonly gone: () => AbortSignal,
  ) {}

  /** Aborts when the client disconnects before it has received its answer. */
  get signal(): AbortSignal {
    return this.gone();
  }

  /** Returns a request header. A property and not a method, so that handlers can destructure it. */
  readonly header = (name: string): string | undefined => headerOf(this.request, name);
}
