/** Answers `initialize` before the server is loaded, which takes three times as long as Node.js itself. */
import type { Readable, Writable } from "node:stream";
import { handshake } from "./handshake.js";

export interface GreetingProcess {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable;
  readonly stdout: Writable;
}

/** How long a client may take to say its first word; one that takes longer is answered by the server itself. */
const firstWordMs = 20;

/**
 * The id of the request that was answered. Nothing is taken from stdin: the server reads it all, and says nothing more
 * to that request. Undefined where there was none, or where options may change what the answer is.
 */
export async function greet({ argv, env, stdin, stdout }: GreetingProcess): Promise<RequestId | undefined> {
  if (argv.length > 2 || Object.keys(env).some((name) => name.startsWith("CLOUD_SANDBOX_MCP_")))
    return undefined;
  const chunk = await firstChunk(stdin);
  if (chunk === undefined) return undefined;
  stdin.unshift(chunk);
  const end = chunk.indexOf(0x0a);
  const request = end === -1 ? undefined : initializeIn(chunk.toString("utf8", 0, end));
  if (request === undefined) return undefined;
  const { id, version } = request;
  const protocolVersion = handshake.versions.includes(version) ? version : handshake.latest;
  const result = { ...handshake.result, protocolVersion };
  stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
  return id;
}

export type RequestId = string | number;

function firstChunk(stdin: Readable): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const readable = (): void => finish(stdin.read() ?? undefined);
    const late = setTimeout(() => finish(undefined), firstWordMs);
    stdin.once("readable", readable);
    function finish(chunk: Buffer | undefined): void {
      clearTimeout(late);
      stdin.off("readable", readable);
      resolve(chunk);
    }
  });
}

/** Nothing for what the server must judge: another message, or one that is not as it should be. */
function initializeIn(line: string): { id: RequestId; version: string } | undefined {
  // Anything longer is not what clients begin with.
  if (line.length > 10_000 || !line.includes('"initialize"')) return undefined;
  const message = parsed(line);
  const { jsonrpc, id, method, params } = Object(message);
  const { protocolVersion: version, capabilities, clientInfo } = Object(params);
  const isId = typeof id === "string" || Number.isInteger(id);
  const { name, version: clientVersion, ...about } = Object(clientInfo);
  const isClient = [name, clientVersion, ...Object.values(about)].every((text) => typeof text === "string");
  const isCapable = isObject(capabilities) && Object.values(capabilities).every(isObject);
  if (jsonrpc !== "2.0" || method !== "initialize" || !isId || !isClient || !isCapable) return undefined;
  return typeof version === "string" ? { id, version } : undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
