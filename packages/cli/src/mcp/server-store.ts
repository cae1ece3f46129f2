import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import type { McpServerConfiguration, McpServerEntries } from "cloud-sandbox-mcp-runner/configuration";
import { writePrivateFile } from "../connection/private-file.js";
import { CommandError } from "../errors/command-error.js";

/** The file, and how it is checked. Loaded when a command needs it. */
const configuration = () => import("cloud-sandbox-mcp-runner/configuration");

/** Reads the servers that this user has added. */
export async function storedServers(): Promise<McpServerConfiguration[]> {
  const { checkedServers, readServerFile } = await configuration();
  const file = readServerFile();
  return file === undefined ? [] : checkedServers(file);
}

/** Reads one server that this user has added. Throws if there is none of that name. */
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
  change: (entries: McpServerEntries) => Result | Promise<Result>,
): Promise<Result> {
  const { checkedServers, parseServerFile, readServerFile, serverFilePath, serverFileText } =
    await configuration();
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
    const entries = readServerFile(path)?.entries ?? {};
    const result = await change(entries);
    const text = serverFileText(entries);
    checkedServers(parseServerFile(path, text));
    await writePrivateFile(path, text);
    return result;
  } finally {
    await release();
  }
}

export function unknownServer(name: string, names: readonly string[]): CommandError {
  return new CommandError(
    "SERVER_UNKNOWN",
    `There is no server "${name}".`,
    names.length === 0
      ? 'Add it with "cloud-sandbox mcp server add", or add those of an assistant with "cloud-sandbox mcp import".'
      : `There are: ${names.join(", ")}.`,
  );
}
