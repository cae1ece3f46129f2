import { posix } from "node:path";
import type { EnvironmentVariables } from "../environment-variables.js";
import type { CodeRequest, CodeRunner } from "../execution/code-runner.js";
import type { ExecutionCache } from "../execution/execution-cache.js";
import type { Executor } from "../execution/executor.js";
import { type Outcome, outcomeFields, type RichOutput } from "../execution/outcome.js";
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
          if (error instanceof ProgramNotFound) return notFound(error);
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

/** The first of each kind, beside the output. */
function valueFields({ result, displays = [], displaysDropped }: Outcome) {
  const first = (type: string) => displays.find((output) => output.type === type)?.data;
  const text = (name: string, type: string) => {
    const data = first(type);
    return typeof data === "string" ? { [name]: data } : {};
  };
  const json = first("application/json");
  return {
    ...(result !== undefined && { result }),
    ...text("png", "image/png"),
    ...text("html", "text/html"),
    ...text("svg", "image/svg+xml"),
    ...text("markdown", "text/markdown"),
    ...text("latex", "text/latex"),
    ...(isStructure(json) && { json }),
    ...(displaysDropped !== undefined && { rich_outputs_dropped: displaysDropped }),
  };
}

const isStructure = (value: RichOutput["data"]): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

/** What a shell makes of it: a result, not a refusal. */
function notFound({ message, exitCode }: ProgramNotFound): Outcome {
  const text = `${message}\n`;
  return {
    reason: "exit",
    exitCode,
    pid: undefined,
    duration: 0,
    stdout: { text: "", bytes: 0, truncated: false },
    stderr: { text, bytes: Buffer.byteLength(text), truncated: false },
  };
}
