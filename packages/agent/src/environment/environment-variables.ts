import { maxVariableBytes, maxVariables, VariableValues } from "@cloud-sandbox/server-kit/handlers";
import * as z from "zod/mini";
import type { PrivateDirectory } from "../machine/private-directory.js";

const fileName = "environment.json";
/** JSON may take six bytes for one. */
const maxFileBytes = maxVariableBytes * 6 + maxVariables * 8;
const savedVariables = z.record(z.string().check(z.regex(/^[A-Za-z_][A-Za-z0-9_]*$/)), z.string());

/**
 * The sandbox's own variables, kept in a file too, so that they outlive an agent that is killed: whoever can read it inside
 * the sandbox is given them as environment anyway.
 */
export class EnvironmentVariables extends VariableValues {
  #saved: Promise<void> = Promise.resolve();

  constructor(private readonly directory: PrivateDirectory) {
    super();
  }

  /** Takes back what an earlier agent left, when that is in order. */
  async restore(): Promise<void> {
    const text = await this.directory.read(fileName, maxFileBytes);
    const found = text === undefined ? undefined : savedVariables.safeParse(parse(text));
    if (!found?.success) return;
    try {
      this.replace(found.data);
    } catch {
      // More than can have been saved: somebody else wrote it.
    }
  }

  /** Resolves when the variables as they are now would outlive the agent; a full disk prevents it and nothing else. */
  async save(): Promise<void> {
    const save = () => this.directory.replace(fileName, JSON.stringify(Object.fromEntries(this.entries())));
    this.#saved = this.#saved
      .then(save)
      .catch((error: NodeJS.ErrnoException) => console.error(`${fileName} was not written: ${error.code}`));
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
