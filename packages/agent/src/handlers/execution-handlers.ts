import { posix } from "node:path";
import type { Executor } from "../execution/executor.js";
import { type Language, languageNamed, languageNotAvailable } from "../execution/languages.js";
import { type Outcome, outcomeFields } from "../execution/outcome.js";
import type { Program } from "../execution/program.js";
import { ProgramNotFound } from "../execution/start-failure.js";
import type { InstalledPrograms } from "../machine/installed-programs.js";
import type { PrivateDirectory } from "../private-directory.js";
import type { AgentHandlers } from "./agent-handlers.js";

export interface ExecutionParts {
  readonly executor: Executor;
  readonly directory: PrivateDirectory;
  readonly programs: InstalledPrograms;
  /** The languages that this sandbox's template offers. */
  readonly offers: (language: Language) => boolean;
  readonly workspace: string;
}

export function executionHandlers({ executor, directory, programs, offers, workspace }: ExecutionParts) {
  return {
    async executeCode({ body, signal }) {
      const language = languageNamed(body.language);
      if (!offers(language) || !(await programs.has(language.interpreter)))
        throw languageNotAvailable(language);
      const outcome = await executor
        .run(() => language.program(body.code, directory), runOptions(body, workspace, signal))
        .catch((error) => {
          throw error instanceof ProgramNotFound ? languageNotAvailable(language) : error;
        });
      return { ...outcomeFields(outcome), language: language.name };
    },

    async runCommand({ body, signal }) {
      const program = body.args
        ? { command: body.command, args: body.args }
        : await shellProgram(body.command, programs);
      const outcome = await executor
        .run(() => program, runOptions(body, workspace, signal))
        .catch((error) => {
          if (error instanceof ProgramNotFound) return notFound(error);
          throw error;
        });
      const { pid } = outcome;
      return { ...outcomeFields(outcome), command: body.command, ...(pid !== undefined && { pid }) };
    },
  } satisfies AgentHandlers;
}

interface RunRequest {
  readonly timeout: number;
  readonly workdir?: string | null;
  readonly working_dir?: string | null;
  readonly env?: Readonly<Record<string, string>> | null;
}

const runOptions = (
  { timeout, workdir, working_dir, env }: RunRequest,
  workspace: string,
  signal: AbortSignal,
) => ({
  cwd: posix.resolve(workspace, workdir ?? working_dir ?? "."),
  env: env ?? {},
  timeout,
  signal,
});

async function shellProgram(line: string, programs: InstalledPrograms): Promise<Program> {
  return { command: (await programs.has("bash")) ? "bash" : "sh", args: ["-c", line] };
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
