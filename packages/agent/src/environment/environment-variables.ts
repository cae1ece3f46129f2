import { maxVariableBytes, maxVariables, VariableValues } from "@cloud-sandbox/server-kit/handlers";
import * as z from "zod/mini";
import type { PrivateDirectory } from "../machine/private-directory.js";

const fileName = "environment.json";
/** JSON escapes one byte as up to six (`\u0000`). */
const maxFileBytes = maxVariableBytes * 6 + maxVariables * 8;
const savedVariables = z.record(z.string().check(z.regex(/^[A-Za-z_][A-Za-z0-9_]*$/)), z.string());

/**
 * The sandbox's environment variables, also saved in a file so that they survive if the agent is killed. Programs in
 * the sandbox can read the file, but they get the same values in their environment anyway.
 */
export class EnvironmentVariables extends VariableValues {
  #saved: Promise<void> = Promise.resolve();

  constructor(private readonly directory: PrivateDirectory) {
    super();
  }

  /** Loads the variables that an earlier agent saved. An invalid file is ignored. */
  async restore(): Promise<void> {
    const text = await this.directory.read(fileName, maxFileBytes);
    const found = text === undefined ? undefined : savedVariables.safeParse(parse(text));
    if (!found?.success) return;
    try {
      this.replace(found.data);
    } catch {
      // The variables exceed the limits, so no agent saved them: a program in the sandbox wrote the file. Ignore it.
    }
  }

  /**
   * Saves the current variables. Resolves even if the write failed (for example on a full disk); that is only logged.
   */
  async save(): Promise<void> {
    const save = () => this.directory.replace(fileName, JSON.stringify(Object.fromEntries(this.entries())));
    this.#saved = this.#saved
      .then(save)
      .catch((error: NodeJS.ErrnoException) =>
        console.error(
          `Environment variables were not saved in ${fileName} (${error.code}): a restarted agent loses them.`,
        ),
      );
    await this.#saved;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
