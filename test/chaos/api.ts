import { apiKey } from "./chaos-server.js";

export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Sends a request to the control plane. */
export function call(url: string, method: string, path: string, body?: object): Promise<Answer> {
  return ask(url + path, { "X-API-Key": apiKey }, method, body);
}

/** The address and token of a sandbox's agent. The token is that of the create, also after the server was restarted. */
export interface AgentAddress {
  readonly url: string;
  readonly agentPath: string;
  readonly token: string;
}

export function agentCall(
  { url, agentPath, token }: AgentAddress,
  method: string,
  path: string,
  body?: object,
): Promise<Answer> {
  return ask(url + agentPath + path, { Authorization: `Bearer ${token}` }, method, body);
}

/** The text of a file anywhere in the sandbox, read by a command: the files API serves only some directories. */
export function readText(sandbox: AgentAddress, path: string): Promise<string> {
  return outputOf(sandbox, `cat ${path}`, "bash");
}

/** What a program prints. */
export async function outputOf(sandbox: AgentAddress, code: string, language: string): Promise<string> {
  const { status, body } = await agentCall(sandbox, "POST", "/execute", { code, language });
  return status === 200 ? `${String(body.stdout)}${String(body.stderr)}` : `${status} ${String(body.code)}`;
}

async function ask(
  address: string,
  headers: Readonly<Record<string, string>>,
  method: string,
  body: object | undefined,
): Promise<Answer> {
  const response = await fetch(address, {
    method,
    headers: { ...headers, "Content-Type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(60_000),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}
