import type { AgentPaths, ControlPlanePaths } from "@cloud-sandbox/protocol";
import type { Client } from "openapi-fetch";
import type { Account } from "./account.js";
import type { Calls } from "./calls/calls.js";
import type { ChannelOptions, Credentials } from "./channel.js";
import type { CallInit } from "./http/light-request.js";

type Methods = "GET" | "PUT" | "POST" | "DELETE" | "PATCH";

/** Low-level client: every operation of the control plane's API, under its wire name. */
export type ControlPlaneClient = Pick<Client<ControlPlanePaths>, Methods>;

/** Low-level client: every operation of the agent's API, under its wire name. */
export type AgentClient = Pick<Client<AgentPaths>, Methods>;

const httpCalls = () => import("./http-calls.js");

/** Channel options that do not depend on the server. */
export type AccountChannelOptions = Omit<ChannelOptions, "baseUrl" | "credentials" | "plane">;

/** Creates the control plane client. Its calls resolve the account with `find`, until that has succeeded once. */
export function controlPlaneClient(
  options: AccountChannelOptions,
  find: () => Account | Promise<Account>,
): ControlPlaneClient {
  let client: ControlPlaneClient | undefined;
  return counted(options.calls, async () => {
    if (client !== undefined) return client;
    const [{ openapiClient }, account] = await Promise.all([httpCalls(), find()]);
    const { baseUrl } = account;
    client ??= openapiClient<ControlPlanePaths>({
      ...options,
      baseUrl,
      plane: "control plane",
      credentials: credentialsOf(account),
    });
    return client;
  });
}

export function agentClient(options: ChannelOptions): AgentClient {
  let client: AgentClient | undefined;
  return counted(options.calls, async () => {
    client ??= (await httpCalls()).openapiClient<AgentPaths>(options);
    return client;
  });
}

type Call = (operation: string, init: object) => Promise<unknown>;

/**
 * The client that `find` gives, with each call registered as soon as it is made, so that closing waits for it. Adds two
 * facts to each call that openapi-fetch does not pass on: the operation's path, and whether the answer is parsed as JSON.
 */
function counted<Client extends object>(calls: Calls, find: () => Promise<Client>): Client {
  const call =
    (method: Methods) =>
    (operation: string, init: CallInit & { parseAs?: string } = {}): Promise<unknown> =>
      calls.during(async () => {
        const client: object = await find();
        const send: Call = Reflect.get(client, method);
        return send(operation, { ...init, operation, isParsed: (init.parseAs ?? "json") === "json" });
      }, init.isPart);
  const methods: object = {
    GET: call("GET"),
    PUT: call("PUT"),
    POST: call("POST"),
    DELETE: call("DELETE"),
    PATCH: call("PATCH"),
  };
  return methods as Client;
}

function credentialsOf({ apiKey, bearerToken }: Account): Credentials {
  const headers: Record<string, string> = {};
  if (apiKey !== undefined) headers["x-api-key"] = apiKey;
  if (bearerToken !== undefined) headers.authorization = `Bearer ${bearerToken}`;
  const secrets = [apiKey, bearerToken].filter((secret) => secret !== undefined);
  return { headers: () => headers, secrets: () => secrets };
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
  if (!response.ok) throw (await httpCalls()).refused(response, error);
  if (typeof data !== "object" || data === null) throw (await httpCalls()).incomplete(response, "a body");
  const body: NonNullable<Body> = data;
  const missing = required.find((field) => (body[field] ?? null) === null);
  if (missing === undefined) return body;
  throw (await httpCalls()).lacking(response, data, missing);
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
    throw (await httpCalls()).malformed((await pending).response, error);
  }
}

/** The body of a successful answer, if it has one. Throws the typed error for any other answer. */
export async function successOf<Body>(pending: Promise<Answer<Body>>): Promise<Body | undefined> {
  const { data, error, response } = await pending;
  if (!response.ok) throw (await httpCalls()).refused(response, error);
  return data;
}
