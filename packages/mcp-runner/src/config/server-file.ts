/** The file of MCP servers: `mcp.json` in a user's settings. It is parsed with positions, so that errors name a line. */
import { lstatSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { findNodeAtLocation, type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import { McpConfigurationError } from "../errors.js";
import { type McpServerConfiguration, serverConfiguration } from "./server-configuration.js";

/** The servers of a file by name, each with the keys as the file spells them. */
export type McpServerEntries = Record<string, Record<string, unknown>>;

/** A file of servers that was read. */
export interface McpServerFile {
  /** Path of the file. */
  readonly path: string;
  /** The servers in the file, by name. */
  readonly entries: McpServerEntries;
  /** The path of the object with the servers; empty if that object is the whole file. */
  readonly serversPath: readonly string[];
  /** The line of a key of an entry, counted from 1. */
  lineOf(path: readonly (string | number)[]): number;
}

/** Version of the file format that this program writes. */
const version = 1;

/** Path of the file of `cloud-sandbox mcp`: `$XDG_CONFIG_HOME/cloud-sandbox/mcp.json`, else `~/.config/cloud-sandbox/mcp.json`. */
export function serverFilePath(): string {
  const { XDG_CONFIG_HOME: base } = process.env;
  // The XDG specification says to ignore a relative path.
  const configuration = base !== undefined && isAbsolute(base) ? base : join(homedir(), ".config");
  return join(configuration, "cloud-sandbox", "mcp.json");
}

/** The text of a file with these servers. */
export function serverFileText(servers: McpServerEntries): string {
  return `${JSON.stringify({ version, servers }, undefined, 2)}\n`;
}

/**
 * Reads a file of servers. Undefined if it does not exist. Throws an `McpConfigurationError` if other users can read or
 * change the file, because it may hold secrets, and if its content is invalid.
 */
export function readServerFile(path: string = serverFilePath()): McpServerFile | undefined {
  try {
    const file = lstatSync(path);
    if (!file.isFile())
      throw new McpConfigurationError({
        summary: `${path} is no regular file.`,
        hint: "Move it out of the way.",
        code: "CONFIG_UNREADABLE",
      });
    if ((file.mode & 0o077) !== 0)
      throw new McpConfigurationError({
        summary: `Other users can read or change ${path}, which may hold secrets: run chmod 600 ${path}`,
        code: "CONFIG_NOT_PRIVATE",
      });
    return parseServerFile(path, readFileSync(path, "utf8"));
  } catch (error) {
    if (error instanceof McpConfigurationError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new McpConfigurationError({
      summary: `${path} cannot be read (${code}).`,
      hint: "Check the permissions of the file and of its directory.",
      code: "CONFIG_UNREADABLE",
    });
  }
}

/**
 * Parses the text of a file of servers in the format of `cloud-sandbox mcp`, of an assistant (`mcpServers`), of VS Code
 * (`servers`) or of e2b-mcp (an object of servers by name). `path` is for messages. Throws an `McpConfigurationError`.
 */
export function parseServerFile(path: string, text: string): McpServerFile {
  const problems: ParseError[] = [];
  // Editors of Windows begin a file with a byte order mark, which the parser does not know.
  if (text.length > longestFile) throw invalid(path, 1, `is longer than ${longestFile} characters`);
  const tree = shallow(path, () =>
    parseTree(text.replace(/^\uFEFF/, " "), problems, { allowTrailingComma: true }),
  );
  const [problem] = problems;
  if (problem !== undefined || tree === undefined) {
    const at = lineAt(text, problem?.offset ?? 0);
    const what = problem === undefined ? "is empty" : `is no JSON: ${printParseErrorCode(problem.error)}`;
    throw invalid(path, at, what);
  }
  const serversPath = serversPathOf(tree);
  const node = serversPath.length === 0 ? tree : findNodeAtLocation(tree, serversPath);
  if (tree.type !== "object" || node?.type !== "object")
    throw invalid(path, lineAt(text, node?.offset ?? 0), "must be an object with the servers by name");
  const written: unknown = findNodeAtLocation(tree, ["version"])?.value;
  if (typeof written === "number" && written > version)
    throw new McpConfigurationError({
      summary: `${path} was written by a newer version of this program (file version ${written}).`,
      hint: "Update cloud-sandbox to read the file.",
      code: "CONFIG_TOO_NEW",
    });
  // Without a prototype, so that no name has a meaning of its own.
  const entries: McpServerEntries = Object.create(null);
  // Programs use the last of several entries, which an edit would not find.
  const repeated = repeatedKey(node) ?? repeatedKey(tree);
  if (repeated !== undefined)
    throw invalid(path, lineAt(text, repeated.offset), `there is a second "${repeated.value}"`);
  for (const { children: [key, value] = [] } of node.children ?? []) {
    const name = String(key?.value);
    if (value?.type !== "object")
      throw invalid(path, lineAt(text, value?.offset ?? 0), `the entry "${name}" must be an object`);
    entries[name] = shallow(path, () => JSON.parse(JSON.stringify(plain(value))));
  }
  const lineOf = (path: readonly (string | number)[]): number => {
    for (let length = path.length; length >= 0; length--) {
      const node = findNodeAtLocation(tree, [...serversPath, ...path.slice(0, length)]);
      // For a property, return the line of its key.
      if (node !== undefined)
        return lineAt(text, node.parent?.type === "property" ? node.parent.offset : node.offset);
    }
    return 1;
  };
  return { path, entries, serversPath, lineOf };
}

/** Checks every entry. Throws an `McpConfigurationError` with the first problem and its line. */
export function checkedServers({ entries, lineOf, path }: McpServerFile): McpServerConfiguration[] {
  return Object.entries(entries).map(([name, entry]) => {
    try {
      return serverConfiguration(name, entry);
    } catch (error) {
      if (!(error instanceof McpConfigurationError)) throw error;
      throw new McpConfigurationError({
        summary: `${path}, line ${lineOf([name, ...error.path])}: ${error.summary}`,
        hint: error.hint ?? "Correct this line of the file.",
        code: "CONFIG_INVALID",
        path: [name, ...error.path],
      });
    }
  });
}

/** The most characters of a file. Those of assistants have some thousand. */
const longestFile = 4 * 1024 * 1024;

/** The result of work that descends into values. Throws an `McpConfigurationError` if they are nested too deeply for it. */
function shallow<Result>(path: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw invalid(path, 1, "has values that are nested too deeply");
  }
}

function serversPathOf(tree: Node): string[] {
  const serversPath = ["mcpServers", "servers", "context_servers"].find(
    (key) => findNodeAtLocation(tree, [key])?.type === "object",
  );
  return serversPath === undefined ? [] : [serversPath];
}

/** The first key of an object that it has had before. */
function repeatedKey({ children = [] }: Node): Node | undefined {
  const seen = new Set<unknown>();
  return children
    .flatMap(({ children: [key] = [] }) => key ?? [])
    .find(({ value }) => {
      const isRepeated = seen.has(value);
      seen.add(value);
      return isRepeated;
    });
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

function invalid(path: string, line: number, what: string): McpConfigurationError {
  return new McpConfigurationError({
    summary: `${path}, line ${line}: ${what}.`,
    hint: "Correct this line of the file.",
    code: "CONFIG_INVALID",
  });
}

function plain(node: Node): unknown {
  if (node.type === "array") return (node.children ?? []).map(plain);
  if (node.type !== "object") return node.value;
  return Object.fromEntries(
    (node.children ?? []).flatMap(({ children: [key, value] = [] }) =>
      value === undefined ? [] : [[String(key?.value), plain(value)]],
    ),
  );
}
