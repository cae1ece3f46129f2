import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import type { McpServerConfiguration } from "cloud-sandbox-mcp-runner";
import { readPrivateFile, writePrivateFile } from "../connection/private-file.js";
import { CommandError } from "../errors/command-error.js";
import {
  readServerFile,
  type ServerEntries,
  type ServerFile,
  serverFilePath,
  serverFileText,
} from "./server-file.js";

/** The servers that this user has added. */
export async function storedServers(): Promise<McpServerConfiguration[]> {
  const file = storedFile();
  return file === undefined ? [] : await checkedServers(file);
}

/** One of them. */
export async function storedServer(name: string): Promise<McpServerConfiguration> {
  const servers = await storedServers();
  const found = servers.find((server) => server.name === name);
  if (found !== undefined) return found;
  throw unknownServer(
    name,
    servers.map((server) => server.name),
  );
}

/**
 * Changes the file. Commands that change it at the same time wait for each other, so that no change is lost; readers see the
 * file before or after a change.
 */
export async function changeServers<Result>(
  change: (entries: ServerEntries) => Result | Promise<Result>,
): Promise<Result> {
  const path = serverFilePath();
  const { default: lockfile } = await import("proper-lockfile");
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const release = await lockfile
    .lock(path, {
      realpath: false,
      retries: { retries: 50, minTimeout: 20, maxTimeout: 200 },
    })
    .catch((cause: NodeJS.ErrnoException) => {
      throw new CommandError(
        "CONFIG_BUSY",
        `${path} cannot be locked (${cause.code}).`,
        `If no other command is running, remove ${path}.lock.`,
      );
    });
  try {
    const file = storedFile();
    const entries = file?.entries ?? {};
    const result = await change(entries);
    const text = serverFileText(entries);
    await checkedServers(readServerFile(path, text));
    await writePrivateFile(path, text);
    return result;
  } finally {
    await release();
  }
}

/** Checks every entry. The first problem is told with its line. */
export async function checkedServers({
  entries,
  lineOf,
  path,
}: ServerFile): Promise<McpServerConfiguration[]> {
  const { McpConfigurationError, serverConfiguration } = await import("cloud-sandbox-mcp-runner");
  return Object.entries(entries).map(([name, entry]) => {
    try {
      return serverConfiguration(name, entry);
    } catch (error) {
      if (!(error instanceof McpConfigurationError)) throw error;
      const line = lineOf([name, ...error.path]);
      throw new CommandError(
        "CONFIG_INVALID",
        `${path}, line ${line}: ${error.summary}`,
        error.hint ?? "Correct the file.",
      );
    }
  });
}

export function storedFile(): ServerFile | undefined {
  const path = serverFilePath();
  const text = readPrivateFile(path);
  return text === undefined ? undefined : readServerFile(path, text);
}

export function unknownServer(name: string, names: readonly string[]): CommandError {
  return new CommandError(
    "SERVER_UNKNOWN",
    `There is no server "${name}".`,
    names.length === 0
      ? 'Add it with "cloud-sandbox mcp server add", or take over an assistant\'s with "cloud-sandbox mcp import".'
      : `There are: ${names.join(", ")}.`,
  );
}
