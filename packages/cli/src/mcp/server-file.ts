/** The file of MCP servers: `mcp.json` in this user's settings. Read with positions, so that a problem names its line. */
import { join } from "node:path";
import { findNodeAtLocation, type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import { configDirectory } from "../connection/places.js";
import { CommandError } from "../errors/command-error.js";

/** Entries by name, as they are written. */
export type ServerEntries = Record<string, Record<string, unknown>>;

/** A file of servers that was read. */
export interface ServerFile {
  readonly path: string;
  readonly entries: ServerEntries;
  /** The line of a key, counted from 1. */
  lineOf(path: readonly (string | number)[]): number;
}

/** Version of the form that this command writes. */
const version = 1;

export function serverFilePath(): string {
  return join(configDirectory(), "mcp.json");
}

export function serverFileText(servers: ServerEntries): string {
  return `${JSON.stringify({ version, servers }, undefined, 2)}\n`;
}

/**
 * Reads a file of servers: this command's own, one of an assistant (`mcpServers`), one of VS Code (`servers`), or names and
 * entries alone, as e2b-mcp keeps them.
 */
export function readServerFile(path: string, text: string): ServerFile {
  const problems: ParseError[] = [];
  const tree = parseTree(text, problems, { allowTrailingComma: true });
  const [problem] = problems;
  if (problem !== undefined || tree === undefined) {
    const at = lineAt(text, problem?.offset ?? 0);
    const what = problem === undefined ? "is empty" : `is no JSON: ${printParseErrorCode(problem.error)}`;
    throw invalid(path, at, what);
  }
  const holder = holderOf(tree);
  const given = holder.length === 0 ? tree : findNodeAtLocation(tree, holder);
  if (tree.type !== "object" || given?.type !== "object")
    throw invalid(path, lineAt(text, given?.offset ?? 0), "is no object of servers");
  const written = valueAt(tree, ["version"]);
  if (typeof written === "number" && written > version)
    throw new CommandError(
      "CONFIG_TOO_NEW",
      `${path} has version ${written}, which a newer version of this command wrote.`,
      "Update this command.",
    );
  const entries: ServerEntries = {};
  for (const { children: [key, value] = [] } of given.children ?? []) {
    const name = String(key?.value);
    if (value?.type !== "object")
      throw invalid(path, lineAt(text, value?.offset ?? 0), `"${name}" is no object`);
    entries[name] = JSON.parse(JSON.stringify(plain(value)));
  }
  const lineOf = (place: readonly (string | number)[]): number => {
    for (let length = place.length; length >= 0; length--) {
      const node = findNodeAtLocation(tree, [...holder, ...place.slice(0, length)]);
      // Of a property, the line of its key.
      if (node !== undefined)
        return lineAt(text, node.parent?.type === "property" ? node.parent.offset : node.offset);
    }
    return 1;
  };
  return { path, entries, lineOf };
}

/** The key that holds the servers, if they are not the whole file. */
export function holderOf(tree: Node): string[] {
  const holder = ["mcpServers", "servers", "context_servers"].find(
    (key) => findNodeAtLocation(tree, [key])?.type === "object",
  );
  return holder === undefined ? [] : [holder];
}

export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

function invalid(path: string, line: number, what: string): CommandError {
  return new CommandError("CONFIG_INVALID", `${path}, line ${line}: ${what}.`, "Correct the file.");
}

function valueAt(tree: Node, place: string[]): unknown {
  return findNodeAtLocation(tree, place)?.value;
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
