import type { IncomingMessage, ServerResponse } from "node:http";
import type { AgentOperations } from "@cloud-sandbox/protocol";
import { agentEnvelope, contractRouter, Problem, Reply, targetOf } from "@cloud-sandbox/server-kit";
import { type AgentContract, agentContract } from "@cloud-sandbox/server-kit/agent-contract";
import { bearerToken } from "@cloud-sandbox/server-kit/handlers";
import * as z from "zod/mini";
import { answerText } from "../agents/agent-answer.js";
import type { AgentRequest } from "../agents/agent-connection.js";
import { type AgentTarget, agentPath } from "../agents/agent-target.js";
import { forwardedRequestHeaders, forwardedResponseHeaders, subjectOf } from "../relay/forwarded-headers.js";
import { type Callback, parseCallback } from "./callback.js";

/** As the agent's own. */
const bodyLimit = 32 * 1024 * 1024;
const maxAnswerBytes = 64 * 1024;
const operationPath = "/execute/async";

const startedJob = z.object({
  execution_id: z.string().check(z.minLength(1), z.maxLength(200)),
  process_id: z.string().check(z.minLength(1), z.maxLength(200)),
});

export interface AsyncExecutionsOptions {
  readonly allowPrivateAddresses: boolean;
  /** Sends a request to a sandbox's agent; throws the problem that says why it is not answered. */
  readonly send: (sandboxId: string, request: AgentRequest) => Promise<IncomingMessage>;
  /** Throws a problem where no more can be taken on. */
  readonly admit: () => Promise<void>;
  /** Takes on to report the execution's end; when it resolves, that will be done. */
  readonly report: (execution: StartedExecution, callback: Callback) => Promise<void>;
  readonly log: (message: string) => void;
}

export interface StartedExecution {
  readonly sandboxId: string;
  readonly executionId: string;
}

type AsyncExecuteBody = AgentOperations["executeAsync"]["requestBody"]["content"]["application/json"];

/**
 * `POST /execute/async` of all agents: the code runs in the sandbox as a background job, and what is to happen at its
 * end stays outside, where the sandbox can neither see nor change it.
 */
export class AsyncExecutions {
  readonly #router;

  constructor(private readonly options: AsyncExecutionsOptions) {
    const operation = agentContract.operations.find(({ operationId }) => operationId === "executeAsync");
    if (!operation) throw new Error("The contract has no executeAsync.");
    this.#router = contractRouter<AgentContract, string>({
      contract: {
        ...agentContract,
        operations: [operation, { ...operation, path: agentPath("{sandbox_id}") + operationPath }],
      },
      handlers: {
        executeAsync: ({ auth: sandboxId, body, request, requestId }) => {
          // The agent's refusals, which are passed on, name the request as this answer does.
          const headers = { ...forwardedRequestHeaders(request, sandboxId), "x-request-id": requestId };
          return this.#start(sandboxId, body, headers);
        },
      },
      envelope: agentEnvelope,
      // Whether the token is true is for the agent to find out, which is asked before anything is done.
      authenticate: ({ params, header }) =>
        params.sandbox_id ?? subjectOf(bearerToken(header("authorization"))) ?? "",
      bodyLimit,
      onError: (error, { requestId }) => options.log(`executeAsync failed (${requestId}): ${String(error)}`),
    });
  }

  handles({ method }: IncomingMessage, { path }: AgentTarget): boolean {
    return method === "POST" && targetOf({ url: path }).path === operationPath;
  }

  handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    return this.#router.handle(request, response);
  }

  async #start(sandboxId: string, body: AsyncExecuteBody, headers: Record<string, string | string[]>) {
    const { callback_url, callback_headers, callback_signature_secret, ...execution } = body;
    const callback = parseCallback(
      { callback_url, callback_headers, callback_signature_secret },
      this.options.allowPrivateAddresses,
    );
    await this.options.admit();
    const answer = await this.#post(sandboxId, "/execute/background", headers, JSON.stringify(execution));
    const text = await answerText(answer, maxAnswerBytes);
    if (answer.statusCode !== 200) return refusal(answer, text);
    const { execution_id, process_id } = parseStarted(text, sandboxId);
    try {
      await this.options.report({ sandboxId, executionId: execution_id }, callback);
    } catch (error) {
      // Code whose end will not be reported must not run.
      const path = `/execute/kill/${encodeURIComponent(process_id)}`;
      (await this.#post(sandboxId, path, headers, undefined)).resume();
      throw error;
    }
    return {
      execution_id,
      process_id,
      status: "queued",
      callback_url,
      message: `${process_id} was started; its end will be reported to callback_url.`,
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

/** What the agent has against it, in its own words. */
function refusal({ statusCode, headers }: IncomingMessage, text: string): Reply {
  const { "content-length": _, ...forwarded } = forwardedResponseHeaders({ headers });
  const entries = Object.entries(forwarded).map(([name, value]) => [name, String(value)] as const);
  return new Reply(text, Object.fromEntries(entries), statusCode ?? 409);
}

function parseStarted(text: string, sandboxId: string): z.infer<typeof startedJob> {
  try {
    return startedJob.parse(JSON.parse(text));
  } catch (cause) {
    const message = `The agent of sandbox ${sandboxId} sent an answer that nobody can read. Delete the sandbox and create a new one.`;
    throw new Problem(409, "AGENT_UNREADABLE", message, { cause });
  }
}
