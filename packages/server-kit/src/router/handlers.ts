import type { ContractTypes } from "../contract/contract.js";
import type { Exchange, NodeExchange, ReplyBody } from "../http/exchange.js";
import type { Reply } from "../http/reply.js";
import type { Call } from "./call.js";

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
