import { posix } from "node:path";
import type { ContextLanguage } from "@cloud-sandbox/server-kit/execution";
import { languageNotAvailable } from "@cloud-sandbox/server-kit/handlers";
import type { PrivateDirectory } from "../machine/private-directory.js";
import type { ContextRequest, Contexts } from "./contexts/contexts.js";
import type { Execution, Executor } from "./programs/executor.js";
import { type Language, languageOutOfReach } from "./programs/languages.js";
import { ProgramNotFound } from "./programs/start-failure.js";

export interface CodeRunnerOptions {
  readonly executor: Executor;
  readonly contexts: Contexts;
  readonly contextLanguages: readonly ContextLanguage[];
  readonly directory: PrivateDirectory;
  /** The directory in which programs start. */
  readonly workdir: string;
}

/** Code to run, with its language. */
export interface CodeRequest extends ContextRequest {
  readonly language: Language;
}

/** Runs code. Languages that keep variables run it in a context; all others start a process for each execution. */
export class CodeRunner {
  constructor(private readonly options: CodeRunnerOptions) {}

  /**
   * Starts code. Resolves once it is running; in a context, that is after all earlier executions in it have ended.
   */
  async start(request: CodeRequest): Promise<Execution> {
    const { executor, contexts, directory, workdir } = this.options;
    const { language, code, filename, stdin } = request;
    const kept = this.options.contextLanguages.find(({ name }) => name === language.name);
    try {
      if (kept) return await contexts.run(kept, request);
      const { program } = language;
      if (!program) throw languageNotAvailable(language);
      const cwd = request.cwd ?? workdir;
      const named = filename === undefined ? undefined : posix.resolve(cwd, filename);
      const prepare = async () => ({
        ...(await program(code, { directory, named })),
        ...(stdin !== undefined && { input: stdin }),
      });
      return await executor.start(prepare, { ...request, cwd });
    } catch (error) {
      throw error instanceof ProgramNotFound ? languageOutOfReach(language) : error;
    }
  }
}
