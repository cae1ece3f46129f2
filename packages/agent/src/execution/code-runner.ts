import type { PrivateDirectory } from "../machine/private-directory.js";
import type { ContextLanguage } from "./contexts/context-language.js";
import type { ContextRequest, Contexts } from "./contexts/contexts.js";
import type { Execution, Executor } from "./programs/executor.js";
import { type Language, languageOutOfReach } from "./programs/languages.js";
import { ProgramNotFound } from "./programs/start-failure.js";

export interface CodeRunnerOptions {
  readonly executor: Executor;
  readonly contexts: Contexts;
  readonly contextLanguages: readonly ContextLanguage[];
  readonly directory: PrivateDirectory;
  /** Where relative directories start. */
  readonly workspace: string;
}

/** Code somebody waits for. */
export interface CodeRequest extends ContextRequest {
  readonly language: Language;
}

/** Runs code: in the context of its language where that keeps variables, else in a process of its own. */
export class CodeRunner {
  constructor(private readonly options: CodeRunnerOptions) {}

  /** Starts code; resolves when it runs, which in a context is when those before it have ended. */
  async start(request: CodeRequest): Promise<Execution> {
    const { executor, contexts, directory, workspace } = this.options;
    const { language, code } = request;
    const kept = this.options.contextLanguages.find(({ name }) => name === language.name);
    try {
      if (kept) return await contexts.run(kept, request);
      return await executor.start(() => language.program(code, directory), {
        ...request,
        cwd: request.cwd ?? workspace,
      });
    } catch (error) {
      throw error instanceof ProgramNotFound ? languageOutOfReach(language) : error;
    }
  }
}
