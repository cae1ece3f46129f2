import { profiles } from "../profiles/index.js";
import { handOverAfter } from "../settings/hand-over-after.js";
import { prefix, type ServerOptions, standardOptions } from "./server-options.js";

const noToken = `${prefix}NO_TOKEN`;

/**
 * Reads the options; prints what is wrong with them, or the help that was asked for, and ends the process. Throws an OptionError
 * for a variable that is none of this server's, or has no value that it can have.
 */
export async function readOptions(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<ServerOptions> {
  // Many clients pass a variable on that nobody has set as an empty one.
  for (const [name, value] of Object.entries(environment))
    if (name.startsWith(prefix) && value?.trim() === "") delete environment[name];
  // The other flags take false for what they are without it.
  if (/^(false|0|no|off)$/i.test(environment[noToken]?.trim() ?? "")) delete environment[noToken];
  const isPlain = argv.length <= 2 && !Object.keys(environment).some((name) => name.startsWith(prefix));
  if (isPlain) return { ...standardOptions, profile: await profiles[0].load() };
  // Most clients give no option, and need not wait for the parser of the command line.
  const { parseCommandLine } = await import("./command-line.js");
  const { options, isGiven } = parseCommandLine(argv, Object.keys(environment));
  handOverAfter(environment);
  const profile = await options.profile.load();
  const proposed = Object.entries(profile.transport?.(environment) ?? {}).filter(([name]) => !isGiven(name));
  return { ...options, ...Object.fromEntries(proposed), profile };
}
