import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { Problem } from "@cloud-sandbox/server-kit";
import type { ProgramReader } from "@cloud-sandbox/server-kit/handlers";
import type { Machine } from "../runtime/sandbox-runtime.js";
import type { TokenIssuer } from "../tokens/token-issuer.js";
import { answerFrames, answerJson, answerText } from "./agent-answer.js";
import type { AgentConnections, AgentRequest } from "./agent-connection.js";

/** The control plane's own calls to agents. Answers are untrusted: code in the sandbox may have replaced the agent. */
export class AgentCalls {
  constructor(
    private readonly tokens: TokenIssuer,
    private readonly connections: AgentConnections,
  ) {}

  /** Adds environment variables for every later execution. Throws a 400 problem when the agent refuses them. */
  async mergeEnvironment(machine: Machine, variables: Readonly<Record<string, string>>): Promise<void> {
    if (Object.keys(variables).length === 0) return;
    const signal = AbortSignal.timeout(settingLimitMs);
    const answer = await this.#send(machine, {
      method: "PATCH",
      path: "/env",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ env_vars: variables, merge: true }),
      signal,
    }).catch((error: unknown) => {
      throw signal.aborted ? noAnswer(error) : error;
    });
    const text = await answerText(answer, defaultMaxAnswerBytes);
    if (isSuccess(answer)) return;
    const { summary, hint } = refusalIn(text, answer);
    throw new Problem(400, "INVALID_REQUEST", `env_vars: ${summary}`, { hint });
  }

  /** Takes an environment variable from every later execution. */
  async removeVariable(machine: Machine, name: string): Promise<void> {
    const signal = AbortSignal.timeout(settingLimitMs);
    await successText(await this.#send(machine, { method: "DELETE", path: `/env/${name}`, signal }));
  }

  /** Ends every process of the machine but the agent. */
  async endProcesses(machine: Machine, signal: AbortSignal): Promise<void> {
    await successText(await this.#send(machine, { method: "DELETE", path: "/internal/processes", signal }));
  }

  /** Streams the sandbox's files as a tar. If it is live, its processes run, and may change files meanwhile. */
  async takeFiles(machine: Machine, signal: AbortSignal, isLive: boolean): Promise<Readable> {
    const path = `/internal/snapshot${isLive ? "/live" : ""}`;
    const answer = await this.#send(machine, { method: "POST", path, signal });
    if (!isSuccess(answer)) await successText(answer);
    return answer;
  }

  /** Unpacks a tar from {@link takeFiles} in the machine, or directories of one from `Machine.writeDisk`. */
  async putFiles(
    machine: Machine,
    archive: Readable,
    signal: AbortSignal,
    places: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const path = `/internal/snapshot?${new URLSearchParams(places)}`;
    const request = { method: "PUT", path, body: archive, signal };
    await successText(await this.#send(machine, request));
  }

  /** Lists, hashes or reads files in the machine, as the agent's `FileReader` describes it. The answer is unchecked and untrusted. */
  async readFiles(
    machine: Machine,
    operation: "list" | "digests" | "side",
    body: object,
    signal: AbortSignal,
  ): Promise<AsyncGenerator<Readonly<Record<string, unknown>>>> {
    const headers = { "content-type": "application/json" };
    const path = `/internal/files/${operation}`;
    const request = { method: "POST", path, headers, body: JSON.stringify(body), signal };
    const answer = await this.#send(machine, request);
    if (!isSuccess(answer)) await successText(answer);
    return answerFrames(answer, maxFactsBytes);
  }

  /**
   * Calls an operation of the agent and resolves with its JSON object, which is unchecked and untrusted; `{}` if the
   * answer is not an object.
   */
  async ask(machine: Machine, request: AgentQuestion): Promise<Readonly<Record<string, unknown>>> {
    const { method, path, body, signal, maxAnswerBytes = defaultMaxAnswerBytes } = request;
    const headers = { "content-type": "application/json" };
    const sent =
      body === undefined ? { method, path } : { method, path, headers, body: JSON.stringify(body) };
    const answer = await this.#send(machine, { ...sent, signal });
    if (!isSuccess(answer)) await successText(answer);
    return answerObject(answer, maxAnswerBytes);
  }

  /**
   * Runs code in the machine and resolves with the agent's answer, unchecked and untrusted. Throws the problem with which
   * the agent refuses the code.
   */
  async execute(
    machine: Machine,
    body: object,
    signal: AbortSignal,
  ): Promise<Readonly<Record<string, unknown>>> {
    const headers = { "content-type": "application/json" };
    const request = { method: "POST", path: "/execute/rich", headers, body: JSON.stringify(body), signal };
    const answer = await this.#send(machine, request);
    if (!isSuccess(answer)) throw refusedCode(await answerText(answer, defaultMaxAnswerBytes), answer);
    return answerObject(answer, maxResultBytes);
  }

  /**
   * Runs code like {@link execute}, and passes its output on while it runs. Resolves with the frame that contains the
   * result, unchecked and untrusted.
   */
  async stream(
    machine: Machine,
    body: object,
    signal: AbortSignal,
    reader: ProgramReader,
  ): Promise<Readonly<Record<string, unknown>>> {
    const headers = { "content-type": "application/json" };
    const request = {
      method: "POST",
      path: "/internal/program",
      headers,
      body: JSON.stringify(body),
      signal,
    };
    const answer = await this.#send(machine, request);
    if (!isSuccess(answer)) throw refusedCode(await answerText(answer, defaultMaxAnswerBytes), answer);
    reader.begin();
    for await (const frame of answerFrames(answer, maxResultBytes)) {
      const { type, data, base64, timestamp, skipped_bytes: skipped } = frame;
      if ((type === "stdout" || type === "stderr") && typeof data === "string")
        await reader.take({
          type,
          data,
          timestamp: typeof timestamp === "string" ? timestamp : new Date().toISOString(),
          ...(typeof base64 === "string" && { base64 }),
          ...(Number.isSafeInteger(skipped) && { skipped_bytes: Number(skipped) }),
        });
      else if (type === "result") return frame;
      else if (type === "error") throw refusedProgram(String(frame.error ?? "its agent does not say why"));
    }
    throw refusedProgram("its agent did not say how it ended");
  }

  /** One snapshot of the agent's metrics, as JSON text. */
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
  /** The most bytes of the answer to accept. Default: 256 KiB. */
  readonly maxAnswerBytes?: number;
}

/** The answer's JSON object; `{}` if it is something else. */
async function answerObject(
  answer: IncomingMessage,
  maxBytes: number,
): Promise<Readonly<Record<string, unknown>>> {
  const json = await answerJson(answer, maxBytes);
  return typeof json === "object" && json !== null ? { ...json } : {};
}

async function successText(answer: IncomingMessage): Promise<string> {
  const text = await answerText(answer, defaultMaxAnswerBytes);
  if (!isSuccess(answer)) throw new Error(refusalIn(text, answer).summary);
  return text;
}

const isSuccess = ({ statusCode = 500 }: IncomingMessage): boolean => statusCode < 300;

/** Milliseconds that an agent may take for a setting. */
const settingLimitMs = 30_000;

const noAnswer = (cause: unknown): Problem =>
  new Problem(503, "RUNTIME_UNAVAILABLE", "The agent of the sandbox does not answer.", { cause });

const defaultMaxAnswerBytes = 256 * 1024;
/** Limit of a line about files: 1 MiB of content, each byte of which JSON may write as six. */
const maxFactsBytes = 8 * 1024 * 1024;
/** Limit of a result: two outputs of 1 MiB, each byte of which JSON may write as six, and 8 MiB of displayed values, some of them twice. */
const maxResultBytes = 48 * 1024 * 1024;

/** The error codes with which an agent may refuse code, and the status for each. Other errors are failures of the agent. */
const codeRefusals: Readonly<Record<string, number>> = {
  INVALID_REQUEST: 400,
  LANGUAGE_NOT_AVAILABLE: 400,
  EXECUTION_TIMEOUT: 408,
  PAYLOAD_TOO_LARGE: 413,
  RESOURCE_EXHAUSTED: 429,
};

function refusedCode(body: string, answer: IncomingMessage): Problem {
  const { message, summary, hint, code } = refusalIn(body, answer);
  const known = code !== undefined && Object.hasOwn(codeRefusals, code) ? codeRefusals[code] : undefined;
  if (known === undefined || known !== answer.statusCode) return refusedProgram(message);
  return new Problem(known, code as "INVALID_REQUEST", summary, { hint });
}

const refusedProgram = (reason: string) =>
  new Problem(503, "RUNTIME_UNAVAILABLE", `The program could not be run: ${reason}`);

interface Refusal {
  /** The reason, which ends with the advice. */
  readonly message: string;
  readonly summary: string;
  readonly hint: string | undefined;
  readonly code?: string;
}

/** The agent's reason for refusing and its advice. A program in the sandbox may have written both. */
function refusalIn(body: string, { statusCode }: IncomingMessage): Refusal {
  try {
    const { message, hint, code } = JSON.parse(body) as Readonly<Record<string, unknown>>;
    if (typeof message === "string") {
      const advice = typeof hint === "string" && message.endsWith(` ${hint}`) ? hint : undefined;
      return {
        message,
        summary: advice === undefined ? message : message.slice(0, -advice.length - 1),
        hint: advice,
        ...(typeof code === "string" && { code }),
      };
    }
  } catch {
    // The body is not JSON: report the status instead.
  }
  const message = `the agent answered ${statusCode}`;
  return { message, summary: message, hint: undefined };
}
