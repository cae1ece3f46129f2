import { posix } from "node:path";
import { notStarted, outcomeFields, valueFields } from "@cloud-sandbox/server-kit/handlers";
import type { EnvironmentVariables } from "../environment-variables.js";
import type { CodeRequest, CodeRunner } from "../execution/code-runner.js";
import type { ExecutionCache } from "../execution/execution-cache.js";
import type { Executor } from "../execution/executor.js";
import { ProgramNotFound } from "../execution/start-failure.js";
import type { AgentHandlers } from "./agent-handlers.js";
import { availableLanguage, commandProgram, type LanguageSupport, placeOf } from "./program-requests.js";

export interface ExecutionParts extends LanguageSupport {
  readonly executor: Executor;
  readonly code: CodeRunner;
  readonly workspace: string;
}

interface KeptExecutionParts extends ExecutionParts {
  readonly cache: ExecutionCache;
  readonly variables: EnvironmentVariables;
}

export function executionHandlers(parts: KeptExecutionParts) {
  const { executor, code, cache, programs, workspace } = parts;

  async function execute(body: CodeBody, signal: AbortSignal, isCell = false) {
    const language = await availableLanguage(body.language, parts);
    const request = { ...codeRequest(body, workspace), language, signal, isCell, isFresh: body.cache };
    const run = async () => (await code.start(request)).outcome;
    const { cwd = workspace, env } = request;
    const variables = { ...Object.fromEntries(parts.variables.entries()), ...env };
    const identity = { language: language.name, code: body.code, cwd, variables, isCell };
    const { outcome, cached } = body.cache
      ? await cache.outcome(identity, run)
      : { outcome: await run(), cached: undefined };
    return {
      outcome,
      fields: {
        ...outcomeFields(outcome),
        ...valueFields(outcome),
        language: language.name,
        ...(cached !== undefined && { cached }),
      },
    };
  }

  return {
    executeCode: async ({ body, signal }) => (await execute(body, signal)).fields,

    async executeRich({ body, signal }) {
      const { outcome, fields } = await execute(body, signal);
      return { ...fields, rich_outputs: body.capture_rich ? [...(outcome.displays ?? [])] : [] };
    },

    executeIpython: async ({ body, signal }) =>
      (await execute({ ...body, language: "python" }, signal, true)).fields,

    async runCommand({ body, signal }) {
      const program = await commandProgram(body, programs);
      const outcome = await executor
        .run(() => program, { ...placeOf(body, workspace), signal })
        .catch((error) => {
          if (error instanceof ProgramNotFound) return notStarted(error.message, error.exitCode);
          throw error;
        });
      const { pid } = outcome;
      return { ...outcomeFields(outcome), command: body.command, ...(pid !== undefined && { pid }) };
    },
  } satisfies AgentHandlers;
}

/** What every request with code for somebody who waits has. */
export interface CodeBody {
  readonly code: string;
  readonly language: string;
  readonly timeout: number;
  readonly workdir?: string | null;
  readonly working_dir?: string | null;
  readonly env?: Readonly<Record<string, string>> | null;
  readonly context?: string | null;
  readonly cache?: boolean;
}

/** Without a directory, a context stays where it is. */
export function codeRequest(body: CodeBody, workspace: string): Omit<CodeRequest, "language" | "signal"> {
  const { code, timeout, workdir, working_dir: workingDir, env, context } = body;
  const given = workdir ?? workingDir ?? undefined;
  return {
    code,
    timeout,
    env: env ?? {},
    cwd: given === undefined ? undefined : posix.resolve(workspace, given),
    context: context ?? undefined,
  };
}
