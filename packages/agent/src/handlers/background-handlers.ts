import { Problem } from "@cloud-sandbox/server-kit";
import {
  type BackgroundExecution,
  type CodeRequestBody,
  startedFields,
} from "@cloud-sandbox/server-kit/handlers";
import type { BackgroundExecutions, BackgroundTerms } from "../execution/background/background-executions.js";
import type { CodeRunner } from "../execution/code-runner.js";
import type { Executor } from "../execution/programs/executor.js";
import { ProgramNotFound } from "../execution/programs/start-failure.js";
import { type AgentHandlers, now } from "./agent-handlers.js";
import { codeRequest } from "./execution-handlers.js";
import {
  availableLanguage,
  type CommandSupport,
  commandProgram,
  type LanguageSupport,
  processSettings,
} from "./program-requests.js";

export interface BackgroundParts extends LanguageSupport, CommandSupport {
  readonly executions: BackgroundExecutions;
  readonly executor: Executor;
  readonly code: CodeRunner;
  readonly workdir: string;
}

type CodeToStart = CodeRequestBody & { readonly name?: string | null };

export function backgroundHandlers(parts: BackgroundParts) {
  const { executions, executor, code, workdir } = parts;

  async function startCode(body: CodeToStart, caller: AbortSignal): Promise<BackgroundExecution> {
    const language = await availableLanguage(body.language, parts);
    const description = { kind: "proc", name: body.name ?? undefined, language: language.name } as const;
    const request = {
      ...codeRequest(body, workdir),
      language,
      isProgram: typeof body.context !== "string",
    };
    return executions.start((terms) => code.start({ ...request, ...terms }), description, caller);
  }

  return {
    executeBackground: async ({ body, signal }) => startedFields(await startCode(body, signal)),

    async executeAsync({ body, signal }) {
      const { id } = await startCode(body, signal);
      return {
        execution_id: id,
        process_id: id,
        status: "queued",
        callback_url: body.callback_url,
        message: `${id} was started. If the sandbox has a control plane, it reports the end to callback_url.`,
        timestamp: now(),
      };
    },

    async runCommandBackground({ body, signal }) {
      const description = { kind: "cmd", name: body.name ?? undefined } as const;
      const launch = (terms: BackgroundTerms) =>
        executor.start(() => commandProgram(body, parts), { ...processSettings(body, workdir), ...terms });
      const execution = await executions.start(launch, description, signal).catch((error) => {
        // Refuse the request if the program is missing: the caller does not wait for the execution's end and would not learn
        // of the failure otherwise.
        throw error instanceof ProgramNotFound ? commandNotFound(error) : error;
      });
      return { ...startedFields(execution), pid: execution.pid, stdout: "", stderr: "" };
    },
  } satisfies AgentHandlers;
}

const commandNotFound = ({ message, command }: ProgramNotFound) =>
  new Problem(400, "INVALID_REQUEST", `${message}.`, {
    hint: "Check the name of the program, or install it. A line for the shell is one text, without arguments beside it.",
    details: { command },
  });
