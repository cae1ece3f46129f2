import { maskedValue } from "@cloud-sandbox/protocol";
import { Problem } from "@cloud-sandbox/protocol/server";
import * as z from "zod/mini";
import type { PrivateDirectory } from "./private-directory.js";

/** What the kernel accepts for arguments and environment together is about 2 MB; programs want some of it. */
const maxBytes = 512 * 1024;
const maxCount = 1000;

const secretName = /KEY|SECRET|PASSWORD|PASSWD|PASSPHRASE|TOKEN|CREDENTIAL|AUTH|PRIVATE/i;

const fileName = "environment.json";
/** JSON may take six bytes for one. */
const maxFileBytes = maxBytes * 6 + maxCount * 8;
const savedVariables = z.record(z.string().check(z.regex(/^[A-Za-z_][A-Za-z0-9_]*$/)), z.string());

/**
 * The sandbox's own variables. Values go to processes and, unless their name looks secret, to answers.
 *
 * They are kept in a file too, so that they outlive an agent that is killed: whoever can read it inside the sandbox is
 * given them as environment anyway.
 */
export class EnvironmentVariables {
  #values: ReadonlyMap<string, string> = new Map();
  #saved: Promise<void> = Promise.resolve();

  constructor(private readonly directory: PrivateDirectory) {}

  /** Takes back what an earlier agent left, when that is in order. */
  async restore(): Promise<void> {
    const text = await this.directory.read(fileName, maxFileBytes);
    const found = text === undefined ? undefined : savedVariables.safeParse(parse(text));
    if (!found?.success) return;
    try {
      this.#set([], found.data);
    } catch {
      // More than can have been saved: somebody else wrote it.
    }
  }

  /** Resolves when the variables as they are now would outlive the agent; a full disk prevents it and nothing else. */
  async save(): Promise<void> {
    const save = () => this.directory.replace(fileName, JSON.stringify(Object.fromEntries(this.#values)));
    this.#saved = this.#saved
      .then(save)
      .catch((error: NodeJS.ErrnoException) => console.error(`${fileName} was not written: ${error.code}`));
    await this.#saved;
  }

  /** For processes: the real values. */
  entries(): Iterable<[string, string]> {
    return this.#values.entries();
  }

  /** For answers: values whose name looks secret are masked. */
  shown(): Record<string, string> {
    return Object.fromEntries(
      [...this.#values].map(([name, value]) => [name, secretName.test(name) ? maskedValue : value]),
    );
  }

  get count(): number {
    return this.#values.size;
  }

  replace(variables: Readonly<Record<string, string>>): void {
    this.#set([], variables);
  }

  merge(variables: Readonly<Record<string, string>>): void {
    this.#set(this.#values, variables);
  }

  delete(name: string): void {
    this.#values = new Map([...this.#values].filter(([key]) => key !== name));
  }

  clear(): void {
    this.#values = new Map();
  }

  #set(kept: Iterable<[string, string]>, variables: Readonly<Record<string, string>>): void {
    const next = new Map(kept);
    for (const [name, value] of Object.entries(variables)) next.set(name, this.#unmasked(name, value));
    const bytes = [...next].reduce(
      (sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(value),
      0,
    );
    if (next.size > maxCount || bytes > maxBytes)
      throw new Problem(
        413,
        "PAYLOAD_TOO_LARGE",
        `A sandbox holds at most ${maxCount} variables of ${maxBytes} bytes in all. Put large values in files.`,
      );
    this.#values = next;
  }

  /** A client that writes back what it was shown means the value it could not see. */
  #unmasked(name: string, value: string): string {
    return value === maskedValue && secretName.test(name) ? (this.#values.get(name) ?? value) : value;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
