import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { Problem } from "@cloud-sandbox/server-kit";
import type { Machine } from "../runtime/sandbox-runtime.js";
import type { TokenIssuer } from "../tokens/token-issuer.js";
import { answerJson, answerText } from "./agent-answer.js";
import type { AgentConnections, AgentRequest } from "./agent-connection.js";

/** What the control plane itself asks of the agents. What they answer is as little trusted as what is in the sandbox. */
export class AgentCalls {
  constructor(
    private readonly tokens: TokenIssuer,
    private readonly connections: AgentConnections,
  ) {}

  /** Adds variables to those that every execution gets. Refused with 400 when the agent does not take them. */
  async mergeEnvironment(machine: Machine, variables: Readonly<Record<string, string>>): Promise<void> {
    if (Object.keys(variables).length === 0) return;
    const answer = await this.#send(machine, {
      method: "PATCH",
      path: "/env",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ env_vars: variables, merge: true }),
    });
    const said = await answerText(answer, answerLimit);
    if (isSuccess(answer)) return;
    throw new Problem(400, "INVALID_REQUEST", `env_vars: ${problemText(said, answer)}`);
  }

  /** Ends every process of the machine but the agent. */
  async endProcesses(machine: Machine, signal: AbortSignal): Promise<void> {
    await successText(await this.#send(machine, { method: "DELETE", path: "/internal/processes", signal }));
  }

  /** Streams the files as a tar; nothing else may run. */
  async takeFiles(machine: Machine, signal: AbortSignal): Promise<Readable> {
    const answer = await this.#send(machine, { method: "POST", path: "/internal/snapshot", signal });
    if (!isSuccess(answer)) await successText(answer);
    return answer;
  }

  /** Unpacks what {@link takeFiles} gave. */
  async putFiles(machine: Machine, archive: Readable, signal: AbortSignal): Promise<void> {
    const request = { method: "PUT", path: "/internal/snapshot", body: archive, signal };
    await successText(await this.#send(machine, request));
  }

  /** The JSON that an operation of the agent's contract answers with. What it says is not to be trusted. */
  async ask(machine: Machine, request: AgentQuestion): Promise<Readonly<Record<string, unknown>>> {
    const { method, path, body, signal, longest = answerLimit } = request;
    const headers = { "content-type": "application/json" };
    const sent =
      body === undefined ? { method, path } : { method, path, headers, body: JSON.stringify(body) };
    const answer = await this.#send(machine, { ...sent, signal });
    if (!isSuccess(answer)) await successText(answer);
    const said = await answerJson(answer, longest);
    return typeof said === "object" && said !== null ? { ...said } : {};
  }

  /** One snapshot of the agent's figures, as JSON. */
  async readMetrics(machine: Machine, signal: AbortSignal): Promise<string> {
    return successText(await this.#send(machine, { method: "GET", path: "/metrics/snapshot", signal }));
  }

  async #send(
    machine: Machine,
    request: Omit<AgentRequest, "headers"> & Partial<Pick<AgentRequest, "headers">>,
  ): Promise<IncomingMessage> {
    const token = await this.tokens.issueOwn(machine.id);
    const headers = { ...request.headers, authorization: `Bearer ${token}` };
    return this.connections.to(machine).send({ ...request, headers });
  }
}

export interface AgentQuestion {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: object;
  readonly signal: AbortSignal;
  /** Bytes that the answer may have, where that is more than usual. */
  readonly longest?: number;
}

async function successText(answer: IncomingMessage): Promise<string> {
  const said = await answerText(answer, answerLimit);
  if (!isSuccess(answer)) throw new Error(problemText(said, answer));
  return said;
}

const isSuccess = ({ statusCode = 500 }: IncomingMessage): boolean => statusCode < 300;

/** Bytes: figures, names, a few lines. */
const answerLimit = 256 * 1024;

function problemText(body: string, { statusCode }: IncomingMessage): string {
  try {
    const { message } = JSON.parse(body) as { message?: unknown };
    if (typeof message === "string") return message;
  } catch {
    // Then its status has to do.
  }
  return `the agent answered ${statusCode}`;
}
