import type { IncomingMessage, ServerResponse } from "node:http";
import type { AgentOperations } from "@cloud-sandbox/protocol";
import { limits } from "@cloud-sandbox/protocol/limits";
import { agentEnvelope, contractRouter, Problem, Reply } from "@cloud-sandbox/server-kit";
import { type AgentContract, agentContract } from "@cloud-sandbox/server-kit/agent-contract";
import { bearerToken } from "@cloud-sandbox/server-kit/handlers";
import * as z from "zod/mini";
import { answerText } from "../agents/agent-answer.js";
import type { AgentRequest } from "../agents/agent-connection.js";
import { agentPath } from "../agents/agent-target.js";
import { forwardedRequestHeaders, forwardedResponseHeaders, subjectOf } from "../relay/forwarded-headers.js";
import { type Callback, parseCallback } from "./callback.js";

/** The largest request body in bytes, the same as the agent's own limit. */
const bodyLimit = limits.requestBytes;
const maxAnswerBytes = 64 * 1024;

const startedExecution = z.object({
  execution_id: z.string().check(z.minLength(1), z.maxLength(200)),
  process_id: z.string().check(z.minLength(1), z.maxLength(200)),
});

export interface AsyncExecutionsOptions {
  readonly allowPrivateAddresses: boolean;
  /** Sends a request to a sandbox's agent; throws the problem that says why there is no answer. */
  readonly send: (sandboxId: string, request: AgentRequest) => Promise<IncomingMessage>;
  /** Throws a 429 problem when too many executions are open. Counts this one until the returned function is called. */
  readonly admit: (sandboxId: string) => Promise<() => void>;
  /** Registers the report of the execution's end. Once it resolves, the report survives a restart. */
  readonly report: (execution: StartedExecution, callback: Callback) => Promise<void>;
  readonly log: (message: string) => void;
}

export interface StartedExecution {
  readonly sandboxId: string;
  readonly executionId: string;
}

type AsyncExecuteBody = AgentOperations["executeAsync"]["requestBody"]["content"]["application/json"];

/**
 * Handles `POST /execute/async` for all agents. The code runs in the sandbox as a background execution; the callback stays in
 * the control plane, where code in the sandbox can neither see nor change it.
 */
export class AsyncExecutions {
  readonly #router;

  constructor(private readonly options: AsyncExecutionsOptions) {
    const operation = agentContract.operations.find(({ operationId }) => operationId === "executeAsync");
    if (!operation) throw new Error("The contract has no executeAsync.");
    this.#router = contractRouter<AgentContract, string>({
      contract: {
        ...agentContract,
        operations: [operation, { ...operation, path: agentPath("{sandbox_id}") + operation.path }],
      },
      handlers: {
        executeAsync: ({ auth: sandboxId, body, request, requestId }) => {
          // Send the request id to the agent: the agent's refusals are passed on, and must carry the same id.
          const headers = { ...forwardedRequestHeaders(request, sandboxId), "x-request-id": requestId };
          return this.#start(sandboxId, body, headers);
        },
      },
      envelope: agentEnvelope,
      // The token is not verified here, because the agent, which is called before anything else happens, verifies it.
      authenticate: ({ params, header }) =>
        params.sandbox_id ?? subjectOf(bearerToken(header("authorization"))) ?? "",
      bodyLimit,
      onError: (error, { requestId }) => options.log(`executeAsync failed (${requestId}): ${String(error)}`),
    });
  }

  handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    return this.#router.handle(request, response);
  }

  async #start(sandboxId: string, body: AsyncExecuteBody, headers: Record<string, string | string[]>) {
    const callback = parseCallback(body, this.options.allowPrivateAddresses);
    const leave = await this.options.admit(sandboxId);
    return this.#startAdmitted(sandboxId, body, callback, headers).finally(leave);
  }

  async #startAdmitted(
    sandboxId: string,
    { callback_url, callback_headers: _, callback_signature_secret: __, ...execution }: AsyncExecuteBody,
    callback: Callback,
    headers: Record<string, string | string[]>,
  ) {
    const answer = await this.#post(sandboxId, "/execute/background", headers, JSON.stringify(execution));
    const text = await answerText(answer, maxAnswerBytes);
    if (answer.statusCode !== 200) return refusal(answer, text);
    const { execution_id, process_id } = parseStarted(text, sandboxId);
    try {
      await this.options.report({ sandboxId, executionId: execution_id }, callback);
    } catch (error) {
      // The report could not be registered, so the end of the code would not be reported: kill the code.
      const path = `/execute/kill/${encodeURIComponent(process_id)}`;
      (await this.#post(sandboxId, path, headers, undefined)).resume();
      throw error;
    }
    return {
      execution_id,
      process_id,
      status: "queued",
      callback_url,
      message: `Process ${process_id} was started. Its end will be reported to callback_url.`,
      timestamp: new Date().toISOString(),
    };
  }

  #post(
    sandboxId: string,
    path: string,
    { "content-length": _, ...headers }: Record<string, string | string[]>,
    body: string | undefined,
  ): Promise<IncomingMessage> {
    const length = Buffer.byteLength(body ?? "");
    return this.options.send(sandboxId, {
      method: "POST",
      path,
      headers: { ...headers, "content-type": "application/json", "content-length": length },
      body,
    });
  }
}

/** Passes the agent's refusal on unchanged. */
function refusal({ statusCode, headers }: IncomingMessage, text: string): Reply {
  const { "content-length": _, ...forwarded } = forwardedResponseHeaders({ headers });
  const entries = Object.entries(forwarded).map(([name, value]) => [name, String(value)] as const);
  return new Reply(text, Object.fromEntries(entries), statusCode ?? 409);
}

function parseStarted(text: string, sandboxId: string): z.infer<typeof startedExecution> {
  try {
    return startedExecution.parse(JSON.parse(text));
  } catch (cause) {
    const message = `The agent of sandbox ${sandboxId} sent an invalid answer.`;
    throw new Problem(409, "AGENT_UNREADABLE", message, {
      hint: "Delete the sandbox and create a new one.",
      cause,
    });
  }
}
