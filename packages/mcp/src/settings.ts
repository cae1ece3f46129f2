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

export const { version } = packageJson;
