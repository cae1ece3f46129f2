import type { Executor } from "../execution/executor.js";
import { languageOutOfReach } from "../execution/languages.js";
import { type Outcome, outcomeFields } from "../execution/outcome.js";
import { ProgramNotFound } from "../execution/start-failure.js";
import type { PrivateDirectory } from "../private-directory.js";
import type { AgentHandlers } from "./agent-handlers.js";
import { availableLanguage, commandProgram, type LanguageSupport, placeOf } from "./program-requests.js";

export interface ExecutionParts extends LanguageSupport {
  readonly executor: Executor;
  readonly directory: PrivateDirectory;
  readonly workspace: string;
}

export function executionHandlers(parts: ExecutionParts) {
  const { executor, directory, programs, workspace } = parts;
  return {
    async executeCode({ body, signal }) {
      const language = await availableLanguage(body.language, parts);
      const outcome = await executor
        .run(() => language.program(body.code, directory), { ...placeOf(body, workspace), signal })
        .catch((error) => {
          throw error instanceof ProgramNotFound ? languageOutOfReach(language) : error;
        });
      return { ...outcomeFields(outcome), language: language.name };
    },

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
