/** Finds the servers that options name, in the user's file and in the one that an option gives. */
import { existsSync } from "node:fs";
import type { McpServerConfiguration, McpServerFile } from "cloud-sandbox-mcp-runner/configuration";
import { instead } from "../errors/similar-names.js";
import { OptionError } from "../settings.js";
import { toolPrefix } from "./tool-names.js";

/** The configurations of these servers. `config` is a file or its text; its entries override those of the user's file. */
export async function configuredServers(
  names: readonly string[],
  config: string | undefined,
): Promise<McpServerConfiguration[]> {
  const { checkedServers, McpConfigurationError, parseServerFile, readServerFile, serverFilePath } =
    await import("cloud-sandbox-mcp-runner/configuration");
  try {
    const files = [configuredFile(), readServerFile()].filter((file) => file !== undefined);
    const found = names.map((name) => {
      const file = files.find(({ entries }) => Object.hasOwn(entries, name));
      const entry = file?.entries[name];
      if (file === undefined || entry === undefined) throw unknown(name, files, serverFilePath());
      return checkedServers({ ...file, entries: { [name]: entry } });
    });
    requireDistinct(names);
    return found.flat();
  } catch (error) {
    if (!(error instanceof McpConfigurationError)) throw error;
    throw new OptionError(error.message);
  }

  function configuredFile(): McpServerFile | undefined {
    if (config === undefined) return undefined;
    if (/^\s*\{/.test(config)) return parseServerFile("--mcp-config", config);
    if (!existsSync(config)) throw new OptionError(`--mcp-config: there is no file ${config}.`);
    return readServerFile(config);
  }
}

function unknown(name: string, files: readonly McpServerFile[], path: string): OptionError {
  const known = [...new Set(files.flatMap(({ entries }) => Object.keys(entries)))];
  const what = `There is no MCP server "${name.slice(0, 200)}"`;
  return new OptionError(
    known.length > 0
      ? `${what}; ${instead(name, known)}`
      : `${what}, because none is configured: add it with "cloud-sandbox mcp server add ${name}", which writes ${path}, or name a file with --mcp-config.`,
  );
}

/** Refuses servers whose tools could have the same names. */
function requireDistinct(names: readonly string[]): void {
  for (const name of names) {
    const other = names.find((each) => each !== name && toolPrefix(name).startsWith(toolPrefix(each)));
    if (other !== undefined)
      throw new OptionError(
        `The tools of servers ${other} and ${name} would have the same names: rename one.`,
      );
  }
}
