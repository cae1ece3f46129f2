/** The options of the command line, each of which can also be given as an environment variable. */
import { Command, InvalidArgumentError, Option } from "commander";
import { instead } from "../errors/similar-names.js";
import { type ProfileChoice, profiles } from "../profiles/index.js";
import { OptionError, version } from "../settings.js";
import { prefix, type ServerOptions } from "./server-options.js";

/** Settings that can be given only as environment variables. */
const furtherVariables = ["CLOUD_SANDBOX_MCP_SECRETS", "CLOUD_SANDBOX_MCP_DETACH_AFTER"];

/** An option that only means something to a server over HTTP. */
class HttpOption extends Option {}

export interface ParsedCommandLine {
  readonly options: Omit<ServerOptions, "profile"> & { readonly profile: ProfileChoice };
  /** Whether an option was given, on the command line or as an environment variable. */
  readonly isGiven: (name: string) => boolean;
  /** The options of HTTP among the arguments, as they are written. Variables are not: they may be set for several servers. */
  readonly httpArguments: readonly string[];
}

/** `variables` are the names of the environment variables that are set. */
export function parseCommandLine(argv: readonly string[], variables: readonly string[]): ParsedCommandLine {
  const command = commandLine().parse(argv);
  requireKnown(variables, command);
  return {
    options: command.opts(),
    isGiven: (name) => command.getOptionValueSource(name) !== "default",
    httpArguments: command.options
      .filter((each) => isHttpArgument(each, command))
      .map(({ long }) => long ?? ""),
  };
}

/** Whether an option of HTTP is among the arguments. `--token` and `--no-token` set the same, and are told apart by its value. */
function isHttpArgument(each: Option, command: Command): boolean {
  const name = each.attributeName();
  const isSet = each instanceof HttpOption && command.getOptionValueSource(name) === "cli";
  return isSet && each.negate === (command.getOptionValue(name) === false);
}

/** Refuses unknown variables: a misspelt READ_ONLY would leave the tools that write. */
function requireKnown(variables: readonly string[], { options }: Command): void {
  const known = [...options.flatMap(({ envVar }) => envVar ?? []), ...furtherVariables];
  const unknown = variables.find((name) => name.startsWith(prefix) && !known.includes(name));
  if (unknown !== undefined)
    throw new OptionError(`There is no ${unknown.slice(0, 200)}; ${instead(unknown, known)}`);
}

function commandLine(): Command {
  const [standard] = profiles;
  return new Command("cloud-sandbox-mcp")
    .description("An MCP server that gives assistants isolated sandboxes to run code in.")
    .version(version)
    .allowExcessArguments(false)
    .addOption(
      option("--profile <name>", `set of tools: ${profiles.map(({ name }) => name).join(", ")}`)
        .argParser(profileNamed)
        .default(standard, standard.name),
    )
    .addOption(
      option("--toolsets <names>", "only these groups of tools; also the names default and all").argParser(
        names,
      ),
    )
    .addOption(
      option("--tools <names>", "only these tools; with --toolsets, these in addition").argParser(names),
    )
    .addOption(option("--exclude-tools <names>", "leave these tools out").argParser(names))
    .addOption(
      option("--read-only [boolean]", "only tools that change nothing, whatever else is chosen")
        .preset("true")
        .argParser(trueOrFalse)
        .default(false),
    )
    .addOption(
      option("--transport <name>", "stdio, or http for many clients at /mcp")
        .choices(["stdio", "http"])
        .default("stdio"),
    )
    .addOption(ofHttp("--host <address>", "address to listen on, with http").default("127.0.0.1"))
    .addOption(
      ofHttp("--port <number>", "port to listen on, with http; 0 takes any free one")
        .argParser(wholeNumber(0, 65_535))
        .default(8000),
    )
    .addOption(ofHttp("--socket <path>", "Unix socket to listen on in place of a port, with http"))
    .addOption(
      ofHttp(
        "--token <tokens>",
        "bearer token that clients must send, with http; other users see arguments, so set the variable",
      ),
    )
    .addOption(
      ofHttp("--no-token", "require no token, with http: every user of this machine can use the server"),
    )
    .addOption(
      ofHttp(
        "--client-keys [boolean]",
        "each client sends an API key of its own as bearer token, with http, and works with that key's sandboxes",
      )
        .preset("true")
        .argParser(trueOrFalse)
        .default(false),
    )
    .addOption(
      ofHttp("--allowed-host <names>", "further host names that requests may be addressed to, with http")
        .argParser(names)
        .default([], "none"),
    )
    .addOption(
      ofHttp(
        "--allowed-origin <names>",
        "hosts or origins whose web pages may use the server, beside this machine's, with http",
      )
        .argParser(names)
        .default([], "none"),
    )
    .addOption(
      ofHttp("--max-clients <count>", "clients that are remembered at the same time, with http")
        .argParser(wholeNumber(1, 10_000))
        .default(200),
    )
    .addOption(
      ofHttp("--idle-timeout <seconds>", "time after which a silent client is forgotten, with http")
        .argParser(wholeNumber(1, 86_400))
        .default(1800),
    )
    .addOption(
      option(
        "--keep-sandboxes [boolean]",
        "do not delete sandboxes in the cloud when the server ends: they live until their deadlines",
      )
        .preset("true")
        .argParser(trueOrFalse)
        .default(false),
    )
    .addOption(
      option(
        "--apply-without-asking [boolean]",
        "let apply_changes write to the user's directories without asking the user; it is in the toolset changes",
      )
        .preset("true")
        .argParser(trueOrFalse)
        .default(false),
    )
    .addOption(
      ofServers(
        "--mcp-gateway <names>",
        "other people's MCP servers, each in a sandbox, that are called through mcp_server_list, mcp_tools_list and mcp_tool_call",
      )
        .argParser(moreNames)
        .default([], "none"),
    )
    .addOption(
      ofServers(
        "--mcp-server <names>",
        "other people's MCP servers whose tools, prompts and resources are listed one by one, as NAME__tool; repeatable",
      )
        .argParser(moreNames)
        .default([], "none"),
    )
    .addOption(
      ofServers(
        "--mcp-config <file>",
        'file with MCP servers, or its JSON, in addition to those of "cloud-sandbox mcp server add"',
      ),
    )
    .addHelpText("after", environmentHelp)
    .configureOutput({
      outputError: (text, write) => {
        const [problem = "", ...advice] = text
          .replace(/^error: /, "")
          .trimEnd()
          .split("\n");
        write(
          `cloud-sandbox-mcp: ${[problem.replace(/[^.?!]$/, "$&."), ...advice, "See --help."].join(" ")}\n`,
        );
      },
    });
}

function option(flags: string, description: string, Kind = Option): Option {
  const created = new Kind(flags, description);
  return created.env(prefix + created.name().replaceAll("-", "_").toUpperCase());
}

/** An option of a server over HTTP, which is refused over stdio. */
function ofHttp(flags: string, description: string): Option {
  return option(flags, description, HttpOption);
}

/** An option about MCP servers: its variable says MCP once, as in CLOUD_SANDBOX_MCP_SERVER. */
function ofServers(flags: string, description: string): Option {
  const created = option(flags, description);
  return created.env(prefix + created.name().replace(/^mcp-/, "").toUpperCase());
}

function profileNamed(name: string): ProfileChoice {
  const found = profiles.find((profile) => profile.name === name);
  if (found !== undefined) return found;
  throw new InvalidArgumentError(
    instead(
      name,
      profiles.map((profile) => profile.name),
    ).replace(/^./, (first) => first.toUpperCase()),
  );
}

function moreNames(text: string, before: readonly string[] = []): string[] {
  return [...new Set([...before, ...names(text)])];
}

function names(text: string): string[] {
  return text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

function trueOrFalse(text: string): boolean {
  if (/^(true|1|yes|on)$/i.test(text)) return true;
  if (/^(false|0|no|off)$/i.test(text)) return false;
  throw new InvalidArgumentError("The value must be true or false.");
}

function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (text.trim() !== "" && Number.isInteger(number) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`The value must be a whole number from ${least} to ${most}.`);
  };
}

const environmentHelp = `
An MCP client starts this server and talks to it over stdin and stdout. The server ends when stdin ends, on SIGTERM and on
SIGINT, and deletes the sandboxes that it created. Lists of names are separated by commas.

Environment:
  CLOUD_SANDBOX_API_KEY    key of the cloud account (or HOPX_API_KEY)
  CLOUD_SANDBOX_BASE_URL   URL of the cloud (or HOPX_BASE_URL); default https://api.hopx.dev
  CLOUD_SANDBOX_MCP_TOKEN  token that clients must send, with http; several, with commas between them, keep clients apart;
                           default: a random one, written to stderr; on a socket none
  CLOUD_SANDBOX_BACKEND    cloud or local; default: cloud when there is a key, else local (sandboxes on this machine)
  CLOUD_SANDBOX_INTERNET   internet access of sandboxes on this machine that are made without internet_access: on, off,
                           or allow=NAMES with commas between them; default on
  CLOUD_SANDBOX_ALLOW_MOUNT  directories of this machine that sandboxes may mount, with colons between them; default none
  CLOUD_SANDBOX_POOL       sandboxes that are kept booted in advance on this machine, 45 MB each; default 1
  CLOUD_SANDBOX_MCP_SECRETS  credentials that code in all sandboxes uses without having them, with blanks between them:
                           NAME@HOST with the value of the variable NAME here, or NAME:STORED of the service
  CLOUD_SANDBOX_MCP_DETACH_AFTER  seconds, 1 to 300, after which a call returns and its program goes on in the background; default 45
`;
