import type { AgentOperations } from "@cloud-sandbox/protocol";
import type { AnyAgentHandlers } from "./agent-handlers.js";
import type { ExecutionCache, ExecutionIdentity } from "./execution-cache.js";
import { type Outcome, outcomeFields, richFields, valueFields } from "./outcome.js";

/** Body of a request to run code, with the contract's defaults filled in. */
export interface CodeRequestBody {
  readonly code: string;
  readonly language: string;
  readonly timeout: number;
  readonly workdir?: string | null;
  readonly working_dir?: string | null;
  readonly env?: Readonly<Record<string, string>> | null;
  readonly context?: string | null;
  readonly filename?: string | null;
  readonly stdin?: string;
  readonly cache?: boolean;
}

type CommandRequestBody = AgentOperations["runCommand"]["requestBody"]["content"]["application/json"] & {
  readonly timeout: number;
};

/** Code that was checked and can be run. */
export interface PreparedCode {
  readonly identity: ExecutionIdentity;
  run(): Promise<Outcome>;
}

export interface ExecutionHandlerParts {
  readonly cache: ExecutionCache;
  /**
   * Checks a request. Throws a problem if its code cannot be run here. `usesIpython`: the code may use IPython's syntax.
   */
  readonly prepare: (
    body: CodeRequestBody,
    options: { readonly signal: AbortSignal; readonly usesIpython: boolean },
  ) => PreparedCode | Promise<PreparedCode>;
  readonly runCommand: (body: CommandRequestBody, signal: AbortSignal) => Promise<Outcome>;
}

/** The operations that run code or a command and answer when it has ended. */
export function executionHandlers({ cache, prepare, runCommand }: ExecutionHandlerParts) {
  async function execute(body: CodeRequestBody, signal: AbortSignal, usesIpython = false) {
    const { identity, run } = await prepare(body, { signal, usesIpython });
    const { outcome, cached } = body.cache
      ? await cache.outcome(identity, run)
      : { outcome: await run(), cached: undefined };
    const fields = {
      ...outcomeFields(outcome),
      ...valueFields(outcome),
      language: identity.language,
      ...(cached !== undefined && { cached }),
    };
    return { outcome, fields };
  }

  return {
    executeCode: async ({ body, signal }) => (await execute(body, signal)).fields,

    async executeRich({ body, signal }) {
      const { outcome, fields } = await execute(body, signal);
      return { ...fields, ...richFields(outcome, body.capture_rich) };
    },

    executeIpython: async ({ body, signal }) =>
      (await execute({ ...body, language: "python" }, signal, true)).fields,

    async runCommand({ body, signal }) {
      const outcome = await runCommand(body, signal);
      const { pid } = outcome;
      return { ...outcomeFields(outcome), command: body.command, ...(pid !== undefined && { pid }) };
    },
  } satisfies AnyAgentHandlers;
}
