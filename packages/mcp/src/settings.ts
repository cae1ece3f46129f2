import type { Secrets } from "cloud-sandbox";
import packageJson from "../package.json" with { type: "json" };

export type Environment = Readonly<Record<string, string | undefined>>;

/** An option of the command line or of the environment has a wrong value. The message says what to give. */
export class OptionError extends Error {
  override readonly name = "OptionError";
}

const setting = "CLOUD_SANDBOX_MCP_DETACH_AFTER";
const standard = 45;

/**
 * Seconds that a call waits for a program before the program continues in the background. Throws an {@link OptionError}
 * for an invalid setting.
 */
export function detachAfter(environment: Environment): number {
  const text = environment[setting]?.trim() ?? "";
  const seconds = text === "" ? standard : Number(text);
  if (Number.isInteger(seconds) && seconds >= 1 && seconds <= 300) return seconds;
  throw new OptionError(`${setting} must be a whole number of 1 to 300 seconds.`);
}

/** The variable with the secrets of all sandboxes. */
export const secretsSetting = "CLOUD_SANDBOX_MCP_SECRETS";

/**
 * The secrets of the sandboxes that the server makes: each NAME@HOST[,HOST], with the value of the variable NAME, or NAME:STORED, which the
 * service stores. Undefined if there are none. Throws an {@link OptionError} that names no value.
 */
export function sandboxSecrets(environment: Environment): Secrets | undefined {
  const words = environment[secretsSetting]?.trim().split(/\s+/).filter(Boolean) ?? [];
  if (words.length === 0) return undefined;
  return Object.fromEntries(words.map((word) => secret(word, environment)));
}

function secret(word: string, environment: Environment): [string, Secrets[string]] {
  const [, name = "", kind, rest = ""] = /^([A-Za-z_]\w*)([@:])(\S+)$/.exec(word) ?? [];
  if (kind === ":") return [name, { from: rest }];
  const value = environment[name]?.trim();
  if (kind === undefined)
    throw new OptionError(`${secretsSetting} has NAME@HOST or NAME:STORED, with blanks between them.`);
  if (!value) throw new OptionError(`${secretsSetting} names ${name}, which is not set.`);
  return [name, { value, hosts: rest.split(",") }];
}

export const { version } = packageJson;
