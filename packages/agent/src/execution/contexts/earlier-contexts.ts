import { limits } from "@cloud-sandbox/protocol/limits";
import * as z from "zod/mini";
import type { PrivateDirectory } from "../../machine/private-directory.js";

const fileName = "contexts.json";
const saved = z.array(z.string()).check(z.maxLength(limits.contexts));
const maxFileBytes = 64 * 1024;

/**
 * The contexts that an earlier agent had when it ended, such as before the sandbox was stopped. Their variables are gone, which callers
 * are told when they miss one. Code in the sandbox can write the file, and only gets a wrong hint.
 */
export class EarlierContexts {
  readonly #earlier = new Set<string>();
  #saved: Promise<void> = Promise.resolve();

  constructor(private readonly directory: PrivateDirectory) {}

  async restore(): Promise<void> {
    const text = await this.directory.read(fileName, maxFileBytes);
    const found = saved.safeParse(parsed(text));
    if (found.success) for (const key of found.data) this.#earlier.add(key);
  }

  /** Whether an earlier agent had the context, and nobody has asked for it since. */
  take(language: string, name: string): boolean {
    return this.#earlier.delete(keyOf(language, name));
  }

  /** Saves the contexts that there are now, and those of earlier agents. Without that, the next agent gives no hints. */
  save(contexts: readonly { readonly language: string; readonly name: string }[]): void {
    const keys = new Set([...contexts.map(({ language, name }) => keyOf(language, name)), ...this.#earlier]);
    const text = JSON.stringify([...keys].slice(0, limits.contexts));
    this.#saved = this.#saved.then(() => this.directory.replace(fileName, text)).catch(() => undefined);
  }
}

const keyOf = (language: string, name: string): string => `${language} ${name}`;

function parsed(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return undefined;
  }
}
