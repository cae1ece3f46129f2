import {
  type CodeRequestBody,
  type ExecutionCache,
  executionHandlers as handlersOver,
  notStarted,
} from "@cloud-sandbox/server-kit/handlers";
import type { EnvironmentVariables } from "../environment/environment-variables.js";
import type { CodeRequest, CodeRunner } from "../execution/code-runner.js";
import type { Executor } from "../execution/programs/executor.js";
import { ProgramNotFound } from "../execution/programs/start-failure.js";
import {
  availableLanguage,
  type CommandSupport,
  commandProgram,
  directoryNamed,
  type LanguageSupport,
  processSettings,
} from "./program-requests.js";

export interface ExecutionParts extends LanguageSupport, CommandSupport {
  readonly executor: Executor;
  readonly code: CodeRunner;
  /** The directory in which programs start. */
  readonly workdir: string;
}

interface KeptExecutionParts extends ExecutionParts {
  readonly cache: ExecutionCache;
  readonly variables: EnvironmentVariables;
}

/** The operations that run code or a command and answer when it has ended, by starting processes in this sandbox. */
export function executionHandlers(parts: KeptExecutionParts) {
  const { executor, code, cache, workdir } = parts;
  return handlersOver({
    cache,

    async prepare(body, { signal, usesIpython }) {
      const language = await availableLanguage(body.language, parts);
      const request = { ...codeRequest(body, workdir), language, signal, usesIpython, isProgram: body.cache };
      const { cwd = workdir, env } = request;
      const variables = { ...Object.fromEntries(parts.variables.entries()), ...env };
      return {
        identity: {
          language: language.name,
          code: body.code,
          cwd,
          variables,
          usesIpython,
          stdin: body.stdin,
        },
        run: async () => (await code.start(request)).outcome,
      };
    },

    async runCommand(body, signal) {
      return executor
        .run(() => commandProgram(body, parts), { ...processSettings(body, workdir), signal })
        .catch((error) => {
          if (error instanceof ProgramNotFound) return notStarted(error.message, error.exitCode);
          throw error;
        });
    },
  });
}

/**
 * Translates a request body. `cwd` is undefined if the body names no directory: a context then keeps its current one.
 */
export function codeRequest(body: CodeRequestBody, home: string): Omit<CodeRequest, "language" | "signal"> {
  const { code, timeout, workdir, working_dir: workingDir, env, context, filename, stdin } = body;
  const requested = workdir ?? workingDir ?? undefined;
  return {
    code,
    timeout,
    env: env ?? {},
    cwd: requested === undefined ? undefined : directoryNamed(requested, home),
    context: context ?? undefined,
    filename: filename ?? undefined,
    stdin,
  };
}
