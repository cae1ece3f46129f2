import { detachAfter, OptionError, sandboxSecrets, secretsSetting } from "../settings.js";
import { parseCommandLine } from "./command-line.js";
import { prefix, type ServerOptions } from "./server-options.js";

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
  const { options, isGiven, httpArguments } = parseCommandLine(argv, Object.keys(environment));
  detachAfter(environment);
  sandboxSecrets(environment);
  const profile = await options.profile.load();
  const proposed = Object.entries(profile.transport?.(environment) ?? {}).filter(([name]) => !isGiven(name));
  const read: ServerOptions = { ...options, ...Object.fromEntries(proposed), profile };
  if (read.clientKeys) requireNothingShared(read, environment);
  if (read.transport === "stdio" && httpArguments.length > 0)
    throw new OptionError(
      `Over stdio there is nothing to listen on or to protect; add --transport http, or drop ${new Intl.ListFormat("en").format(httpArguments)}.`,
    );
  return read;
}

/** Refuses what would belong to all clients at once where each client has a key of its own. */
function requireNothingShared(
  { transport, token, mcpGateway, mcpServer }: ServerOptions,
  environment: NodeJS.ProcessEnv,
): void {
  const other =
    (transport === "stdio" &&
      "add --transport http: over stdio there is one client, whose key is CLOUD_SANDBOX_API_KEY") ||
    (token !== undefined &&
      "drop --token, --no-token and CLOUD_SANDBOX_MCP_TOKEN: the keys are the tokens") ||
    (mcpGateway.length + mcpServer.length > 0 &&
      "drop --mcp-gateway and --mcp-server: their servers would be started with one key for all") ||
    (environment[secretsSetting] !== undefined &&
      `drop ${secretsSetting}: all clients would use one client's credentials`) ||
    (environment.CLOUD_SANDBOX_BACKEND?.trim() === "local" &&
      "drop CLOUD_SANDBOX_BACKEND=local, and name the server that knows the keys in CLOUD_SANDBOX_BASE_URL");
  if (other) throw new OptionError(`Each client sends a key of its own (--client-keys); ${other}.`);
}
