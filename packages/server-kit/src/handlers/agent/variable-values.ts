import { maskedValue } from "@cloud-sandbox/protocol";
import { Problem } from "../../http/problem.js";

/** Limit of all variables together. The kernel accepts about 2 MB for a program's arguments and environment. */
export const maxVariableBytes = 512 * 1024;
export const maxVariables = 1000;

const secretName = /KEY|SECRET|PASSWORD|PASSWD|PASSPHRASE|TOKEN|CREDENTIAL|AUTH|PRIVATE/i;

const encoder = new TextEncoder();
const bytesOf = (text: string): number => encoder.encode(text).length;

/** Replaces the values of variables whose names look secret with a mask, for answers. */
export function withMasks(variables: Readonly<Record<string, string>>): Record<string, string> {
  const shown = ([name, value]: [string, string]) => [name, secretName.test(name) ? maskedValue : value];
  return Object.fromEntries(Object.entries(variables).map(shown));
}

/**
 * A sandbox's own environment variables. Processes get the real values; answers get a mask for those whose names look
 * secret.
 */
export class VariableValues {
  #values: ReadonlyMap<string, string> = new Map();

  /** The real values, for processes. */
  entries(): Iterable<[string, string]> {
    return this.#values.entries();
  }

  /** The values for answers; those whose names look secret are masked. */
  shown(): Record<string, string> {
    return withMasks(Object.fromEntries(this.#values));
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
    const bytes = [...next].reduce((sum, [name, value]) => sum + bytesOf(name) + bytesOf(value), 0);
    if (next.size > maxVariables || bytes > maxVariableBytes)
      throw new Problem(
        413,
        "PAYLOAD_TOO_LARGE",
        `A sandbox holds at most ${maxVariables} variables of ${maxVariableBytes} bytes in all.`,
        { hint: "Put large values in files." },
      );
    this.#values = next;
  }

  /** If a client writes back the mask it was shown, the variable keeps its value. */
  #unmasked(name: string, value: string): string {
    return value === maskedValue && secretName.test(name) ? (this.#values.get(name) ?? value) : value;
  }
}
