import { profiles } from "../profiles/index.js";
import { handOverAfter } from "../settings/hand-over-after.js";
import { prefix, type ServerOptions, standardOptions } from "./server-options.js";

const noToken = `${prefix}NO_TOKEN`;

/**
 * Reads the options. With `--help`, or when an option is wrong, it prints a text and ends the process. Throws an OptionError for a
 * variable that this server does not have, or whose value it cannot use.
 */
export async function readOptions(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<ServerOptions> {
  // Treat an empty variable as unset: many clients pass a variable that the user has not set as an empty one.
  for (const [name, value] of Object.entries(environment))
    if (name.startsWith(prefix) && value?.trim() === "") delete environment[name];
  // `false` switches a flag off; the parser would take any value of NO_TOKEN as on.
  if (/^(false|0|no|off)$/i.test(environment[noToken]?.trim() ?? "")) delete environment[noToken];
  const isPlain = argv.length <= 2 && !Object.keys(environment).some((name) => name.startsWith(prefix));
  if (isPlain) return { ...standardOptions, profile: await profiles[0].load() };
  // Without any option, which is the most frequent case, do not load the parser of the command line.
  const { parseCommandLine } = await import("./command-line.js");
  const { options, isGiven } = parseCommandLine(argv, Object.keys(environment));
  handOverAfter(environment);
  const profile = await options.profile.load();
  const proposed = Object.entries(profile.transport?.(environment) ?? {}).filter(([name]) => !isGiven(name));
  return { ...options, ...Object.fromEntries(proposed), profile };
}
