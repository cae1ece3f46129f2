import type { AgentPaths, ControlPlanePaths } from "@cloud-sandbox/protocol";
import openapiFetch, { type Client, type ClientOptions } from "openapi-fetch";
import { errorFromResponse } from "./error-from-response.js";
import { InvalidResponseError, type SandboxError } from "./errors.js";
import type { Channel } from "./transport/channel.js";
import { LightRequest } from "./transport/light-request.js";
import { callFacts, invalidResponse, LightResponse } from "./transport/light-response.js";

/** In a CommonJS build the import is the whole module, and the function its `default`. */
const imported: typeof openapiFetch & { default?: typeof openapiFetch } = openapiFetch;
const createClient = imported.default ?? imported;

type Methods = "GET" | "PUT" | "POST" | "DELETE" | "PATCH";

/** Every operation of the control plane's contract, under the wire's own names. */
export type ControlPlaneClient = Pick<Client<ControlPlanePaths>, Methods>;

/** Every operation of the agent's contract, under the wire's own names. */
export type AgentClient = Pick<Client<AgentPaths>, Methods>;

export function controlPlaneClient(channel: Channel): ControlPlaneClient {
  return createClient<ControlPlanePaths>(wiring(channel));
}

export function agentClient(channel: Channel): AgentClient {
  return createClient<AgentPaths>(wiring(channel));
}

interface Answer<Body> {
  data?: Body;
  error?: unknown;
  response: Response;
}

/** The body of a successful answer, in which the `required` fields are present; else throws the typed error. */
export async function bodyOf<Body>(
  pending: Promise<Answer<Body>>,
  ...required: Array<keyof NonNullable<Body> & string>
): Promise<NonNullable<Body>> {
  const { data, error, response } = await answerOf(pending);
  if (!response.ok) throw failure(response, error);
  if (typeof data !== "object" || data === null) throw incomplete(response, "a body");
  const fields = data as Record<string, unknown>;
  for (const field of required) {
    if (fields[field] !== undefined && fields[field] !== null) continue;
    throw "error" in data ? failure(response, data) : incomplete(response, `"${field}"`);
  }
  return data;
}

/** What a successful answer holds, if anything; throws the typed error when it is not a success. */
export async function successOf<Body>(pending: Promise<Answer<Body>>): Promise<Body | undefined> {
  const { data, error, response } = await answerOf(pending);
  if (!response.ok) throw failure(response, error);
  return data;
}

async function answerOf<Body>(pending: Promise<Answer<Body>>): Promise<Answer<Body>> {
  try {
    return await pending;
  } catch (error) {
    // openapi-fetch parses bytes of unknown length by itself; its error quotes them.
    if (!(error instanceof SyntaxError)) throw error;
    throw new InvalidResponseError({ summary: "The server's answer is not JSON.", code: "INVALID_RESPONSE" });
  }
}

function wiring(channel: Channel): ClientOptions {
  return {
    baseUrl: channel.baseUrl,
    fetch: channel.fetch,
    Request: LightRequest as typeof Request,
    bodySerializer: serialized,
  };
}

/** JSON, or a form where a part is a file. Fields before files: a server may then stream the file to its place. */
function serialized(body: unknown): string | FormData {
  if (body instanceof FormData) return body;
  const fields = Object.entries(body ?? {});
  if (!fields.some(([, value]) => value instanceof Blob)) return JSON.stringify(body);
  const form = new FormData();
  for (const [name, value] of fields) if (!(value instanceof Blob)) form.append(name, String(value));
  for (const [name, value] of fields) if (value instanceof Blob) form.append(name, value);
  return form;
}

function failure(response: Response, body: unknown): SandboxError {
  const answer = ours(response);
  const { status, headers } = answer;
  const call = callFacts(answer);
  return errorFromResponse({ ...call, status, headers, body, secrets: call.secrets() });
}

function incomplete(response: Response, what: string): SandboxError {
  return invalidResponse(ours(response), { summary: `The server's answer lacks ${what}.` });
}

function ours(response: Response): LightResponse {
  if (response instanceof LightResponse) return response;
  throw new TypeError("This response did not come through a channel.");
}
