import type { AgentPaths, ControlPlanePaths } from "@cloud-sandbox/protocol";
import type { Client } from "openapi-fetch";
import type { Account } from "./account.js";
import type { AccountChannelOptions } from "./account-client.js";
import type { ChannelOptions } from "./channel.js";
import { call, deferred } from "./deferred.js";
import type { CallInit } from "./http/light-request.js";

type Methods = "GET" | "PUT" | "POST" | "DELETE" | "PATCH";

/** Low-level client: every operation of the control plane's API, under its wire name. */
export type ControlPlaneClient = Pick<Client<ControlPlanePaths>, Methods>;

/** Low-level client: every operation of the agent's API, under its wire name. */
export type AgentClient = Pick<Client<AgentPaths>, Methods>;

const methods = { GET: call, PUT: call, POST: call, DELETE: call, PATCH: call } as const;

/** Creates the control plane client. Its first call loads the HTTP code and resolves the account with `find`. */
export function controlPlaneClient(
  options: AccountChannelOptions,
  find: () => Account | Promise<Account>,
): ControlPlaneClient {
  const load = async () => {
    const [{ accountClient }, account] = await Promise.all([import("./account-client.js"), find()]);
    return accountClient(options, account);
  };
  return counted(deferred<ControlPlaneClient>(load, methods), options);
}

export function agentClient(options: ChannelOptions): AgentClient {
  const load = async () => (await import("./openapi-client.js")).openapiClient<AgentPaths>(options);
  return counted(deferred<AgentClient>(load, methods), options);
}

type Call = (path: string, init?: CallInit) => Promise<unknown>;

/** Registers each call as soon as it is made, so that closing the client waits for it. */
function counted<Client extends object>(client: Client, { calls }: AccountChannelOptions): Client {
  const entries: [string, Call][] = Object.entries(client);
  for (const [method, call] of entries)
    Reflect.set(client, method, (path: string, init?: CallInit) =>
      calls.during(() => call(path, init), init?.isPart),
    );
  return client;
}

export interface Answer<Body> {
  data?: Body;
  error?: unknown;
  response: Response;
}

/** The body of a successful answer, checked for the `required` fields. Otherwise throws the typed error. */
export async function bodyOf<Body>(
  pending: Promise<Answer<Body>>,
  ...required: Array<keyof NonNullable<Body> & string>
): Promise<NonNullable<Body>> {
  const { data, error, response } = await pending;
  if (!response.ok) throw (await failedAnswer()).refused(response, error);
  if (typeof data !== "object" || data === null) throw (await failedAnswer()).incomplete(response, "a body");
  const body: NonNullable<Body> = data;
  const missing = required.find((field) => (body[field] ?? null) === null);
  if (missing === undefined) return body;
  throw (await failedAnswer()).lacking(response, data, missing);
}

/**
 * `read` applied to the body of a successful answer. If `read` throws a `TypeError`, the answer has the wrong form:
 * throws an `InvalidResponseError`.
 */
export async function readBody<Body, Value>(
  pending: Promise<Answer<Body>>,
  read: (body: NonNullable<Body>) => Value,
  ...required: Array<keyof NonNullable<Body> & string>
): Promise<Value> {
  const body = await bodyOf(pending, ...required);
  try {
    return read(body);
  } catch (error) {
    throw (await failedAnswer()).unreadable((await pending).response, error);
  }
}

/** The body of a successful answer, if it has one. Throws the typed error for any other answer. */
export async function successOf<Body>(pending: Promise<Answer<Body>>): Promise<Body | undefined> {
  const { data, error, response } = await pending;
  if (!response.ok) throw (await failedAnswer()).refused(response, error);
  return data;
}

const failedAnswer = () => import("./answers/failed-answer.js");
