import type { AgentPaths, ControlPlanePaths } from "@cloud-sandbox/protocol";
import { errorFromResponse } from "../errors/error-from-response.js";
import type { SandboxError } from "../errors/errors.js";
import { Channel, type ChannelOptions, type Credentials } from "./channel.js";
import { invalidResponse, isOk, type Received } from "./http/read-response.js";
import { type Answer, type OpenapiClient, openapiClient, receivedOf } from "./openapi-client.js";

/** Low-level client: every operation of the control plane's API, under its wire name. */
export type ControlPlaneClient = OpenapiClient<ControlPlanePaths>;

/** Low-level client: every operation of the agent's API, under its wire name. */
export type AgentClient = OpenapiClient<AgentPaths>;

/** Channel options that do not depend on the server. */
type AccountChannelOptions = Omit<ChannelOptions, "baseUrl" | "credentials" | "plane">;

/** Creates the control plane client. Its calls resolve the account with `find`, until that has succeeded once. */
export function controlPlaneClient(
  options: AccountChannelOptions,
  find: () => Account | Promise<Account>,
): ControlPlaneClient {
  let channel: Channel | undefined;
  return openapiClient(options.calls, async () => {
    if (channel !== undefined) return channel;
    const account = await find();
    const credentials = credentialsOf(account);
    channel ??= new Channel({ ...options, baseUrl: account.baseUrl, plane: "control plane", credentials });
    return channel;
  });
}

export function agentClient(options: ChannelOptions): AgentClient {
  const channel = new Channel(options);
  return openapiClient(options.calls, () => channel);
}

function credentialsOf({ apiKey, bearerToken }: Account): Credentials {
  const headers: Record<string, string> = {};
  if (apiKey !== undefined) headers["x-api-key"] = apiKey;
  if (bearerToken !== undefined) headers.authorization = `Bearer ${bearerToken}`;
  const secrets = [apiKey, bearerToken].filter((secret) => secret !== undefined);
  return { headers: () => headers, secrets: () => secrets };
}

/** The body of a successful answer, checked for the `required` fields. Otherwise throws the typed error. */
export async function bodyOf<Body>(
  pending: Promise<Answer<Body>>,
  ...required: Array<keyof NonNullable<Body> & string>
): Promise<NonNullable<Body>> {
  const answer = await pending;
  const { data, error } = answer;
  const received = receivedOf(answer);
  if (!isOk(received)) throw refused(received, error);
  if (typeof data !== "object" || data === null) throw incomplete(received, "a body");
  const body: NonNullable<Body> = data;
  const missing = required.find((field) => (body[field] ?? null) === null);
  if (missing === undefined) return body;
  throw lacking(received, data, missing);
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
    throw malformed(receivedOf(await pending), error);
  }
}

/** The body of a successful answer, if it has one. Throws the typed error for any other answer. */
export async function successOf<Body>(pending: Promise<Answer<Body>>): Promise<Body | undefined> {
  const answer = await pending;
  const received = receivedOf(answer);
  if (!isOk(received)) throw refused(received, answer.error);
  return answer.data;
}

/** The error for an answer with an error status. */
export function refused({ call, headers, status }: Received, body: unknown): SandboxError {
  const error = errorFromResponse({ ...call, status, headers, body, secrets: call.secrets() });
  call.failed(error);
  return error;
}

/** The error for a successful answer that lacks something. */
export function incomplete(received: Received, what: string): SandboxError {
  return invalidResponse(received, { summary: `The server's answer lacks ${what}.` });
}

/** The error for a successful answer that lacks a field. Some servers answer 200 with an error in the body. */
export function lacking(received: Received, body: object, field: string): SandboxError {
  return "error" in body ? refused(received, body) : incomplete(received, `"${field}"`);
}

/**
 * The error to throw when the code that reads a body threw `error`. A `TypeError` means that the body has the wrong form,
 * such as a missing list, and becomes an `InvalidResponseError`.
 */
export function malformed(received: Received, error: unknown): unknown {
  return error instanceof TypeError ? incomplete(received, "fields of the right form") : error;
}

/** A control plane's address and the credentials for it. */
export interface Account {
  readonly baseUrl: URL;
  readonly apiKey: string | undefined;
  readonly bearerToken: string | undefined;
}
