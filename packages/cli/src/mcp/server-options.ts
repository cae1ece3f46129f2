import type { Command } from "commander";
import { fraction, listed, onOrOff, pair, wholeNumber } from "../command-line/option-values.js";
import { type SecretSource, serverSecretOption } from "../command-line/secret-option.js";

/** Options that say how a server is started, as the command line gives them. */
export interface ServerOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly secret?: Readonly<Record<string, SecretSource>>;
  readonly installCommands?: readonly string[];
  readonly description?: string;
  readonly timeout?: number;
  readonly internet?: boolean;
  readonly allow?: readonly string[];
  readonly template?: string;
  readonly workdir?: string;
  readonly port?: number;
  readonly path?: string;
}

export function withServerOptions(command: Command): Command {
  return command
    .option(
      "-e, --env <NAME=value...>",
      `variables of the server; \${NAME} in a value is taken from your environment`,
      pair,
    )
    .option(...serverSecretOption)
    .option("--install-commands <line...>", "command lines that install the server, run once", listed)
    .option("--timeout <minutes>", "minutes after which a session ends", fraction(0.1, 1440))
    .option("--internet <on|off>", "internet access of the server; default: the backend's", onOrOff)
    .option("--allow <destination...>", "let the server reach only these hosts", listed)
    .option("--template <name>", "template of its sandbox; default: code-interpreter")
    .option("--workdir <path>", "directory that it starts in; default: /workspace")
    .option(
      "--port <number>",
      "for a server that speaks Streamable HTTP on this port",
      wholeNumber(1, 65_535),
    )
    .option("--path <path>", "path of its endpoint; default: /mcp");
}

/** Converts the options to an entry of the file. */
export function serverEntry(command: string, options: ServerOptions): Record<string, unknown> {
  const { allow, description, env, installCommands, internet, path, port, secret: secrets } = options;
  const { template, timeout, workdir } = options;
  const entry = {
    command,
    description,
    env,
    secrets,
    installCommands,
    timeoutMinutes: timeout,
    internet: allow ?? internet,
    template,
    workdir,
    port,
    path,
  };
  return JSON.parse(JSON.stringify(entry));
}
