import { type Job, startedFields } from "@cloud-sandbox/protocol/handlers";
import { Problem } from "@cloud-sandbox/protocol/server";
import type { BackgroundJobs } from "../execution/background-jobs.js";
import { languageOutOfReach } from "../execution/languages.js";
import { ProgramNotFound } from "../execution/start-failure.js";
import type { PrivateDirectory } from "../private-directory.js";
import { type AgentHandlers, now } from "./agent-handlers.js";
import {
  availableLanguage,
  commandProgram,
  type LanguageSupport,
  type Placed,
  placeOf,
} from "./program-requests.js";

export interface BackgroundParts extends LanguageSupport {
  readonly jobs: BackgroundJobs;
  readonly directory: PrivateDirectory;
  readonly workspace: string;
}

type CodeToStart = Placed & {
  readonly code: string;
  readonly language: string;
  readonly name?: string | null;
};

export function backgroundHandlers(parts: BackgroundParts) {
  const { jobs, directory, programs, workspace } = parts;

  async function startCode(body: CodeToStart): Promise<Job> {
    const language = await availableLanguage(body.language, parts);
    const description = { kind: "proc", name: body.name ?? undefined, language: language.name } as const;
    return jobs
      .start(() => language.program(body.code, directory), placeOf(body, workspace), description)
      .catch((error) => {
        throw error instanceof ProgramNotFound ? languageOutOfReach(language) : error;
      });
  }

  return {
    executeBackground: async ({ body }) => startedFields(await startCode(body)),

    async executeAsync({ body }) {
      const { id, executionId } = await startCode(body);
      return {
        execution_id: executionId,
        process_id: id,
        status: "queued",
        callback_url: body.callback_url,
        message: `${id} was started. Its end is reported to callback_url by the control plane, where there is one.`,
        timestamp: now(),
      };
    },

    async runCommandBackground({ body }) {
      const program = await commandProgram(body, programs);
      const description = { kind: "cmd", name: body.name ?? undefined } as const;
      const job = await jobs
        .start(() => program, placeOf(body, workspace), description)
        .catch((error) => {
          // Whoever does not wait for the end learns of it now or never.
          throw error instanceof ProgramNotFound ? commandNotFound(error) : error;
        });
      return { ...startedFields(job), pid: job.pid };
    },
  } satisfies AgentHandlers;
}

export const commandNotFound = ({ message, command }: ProgramNotFound) =>
  new Problem(400, "INVALID_REQUEST", `${message}. Install it, or leave args out to write for the shell.`, {
    details: { command },
  });
