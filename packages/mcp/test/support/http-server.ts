/** Starts the built MCP server with HTTP, in a process of its own. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import type { Readable } from "node:stream";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { killedWithParent } from "../../../../test/support/local-server.js";
import { connectionOf, type McpConnection, serverFile } from "./mcp-connection.js";

export interface HttpServer {
  readonly url: string;
  readonly process: ChildProcessByStdio<null, null, Readable>;
  readonly stderr: () => string;
  /** The Authorization header with the token that the server has made at its start. Empty if it has made none. */
  readonly authorization: Readonly<Record<string, string>>;
  /**
   * Opens a session with a client of the MCP SDK's first major version. Without `token` it uses the one that the server
   * made.
   */
  connect(token?: string): Promise<McpConnection<StreamableHTTPClientTransport>>;
  /** Sends the server a signal, and resolves with its exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Environment for servers that are used without a backend: nothing listens at its address. */
export const withoutBackend: Readonly<Record<string, string>> = {
  CLOUD_SANDBOX_BACKEND: "cloud",
  CLOUD_SANDBOX_API_KEY: "key",
  CLOUD_SANDBOX_BASE_URL: "http://127.0.0.1:9",
};

export async function startHttpServer(
  args: readonly string[] = [],
  environment: Record<string, string> = {},
): Promise<HttpServer> {
  const [setpriv, ...through] = killedWithParent;
  const command = [process.execPath, serverFile, "--transport", "http", "--port", "0", ...args];
  const child = spawn(setpriv, [...through, ...command], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, CLOUD_SANDBOX_BACKEND: "local", ...environment },
  });
  const exited = once(child, "exit");
  let said = "";
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      said += text;
      const found = /listening at ((?:http|unix):\S+?),?(?: path \/mcp)?\n/.exec(said)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once("exit", () => reject(new Error(`It ended before it listened: ${said}`)));
  });
  const made = /^cloud-sandbox-mcp: Authorization: (Bearer \S+)$/m.exec(said)?.[1];
  const authorization: Record<string, string> = made === undefined ? {} : { authorization: made };
  return {
    url,
    authorization,
    process: child,
    stderr: () => said,
    connect: async (token) => {
      const headers = token === undefined ? authorization : { authorization: `Bearer ${token}` };
      const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
      const client = new Client({ name: "test", version: "1.0.0" });
      await client.connect(transport);
      return connectionOf(client, transport, () => said);
    },
    stop: async (signal = "SIGTERM") => {
      child.kill(signal);
      const [code] = await exited;
      return code as number | null;
    },
  };
}

export interface RawAnswer {
  readonly status: number | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** The request that begins a session. */
export const initialize = {
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "test", version: "1.0.0" },
  },
};

/** Sends a request with exactly these headers, and its body unchanged. */
export async function exchange(
  url: string,
  {
    method = "POST",
    headers = {},
    body = "",
  }: { method?: string; headers?: Record<string, string>; body?: string },
): Promise<RawAnswer> {
  const sent = request(url, { method, headers });
  sent.end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  // Ignore errors: a server that refuses a request need not read its body.
  sent.on("error", () => undefined);
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) text += String(chunk);
  return { status: response.statusCode, headers: response.headers, body: text };
}

/** A request of the protocol versions with sessions, as clients send it. */
export function posted(message: object, headers: Record<string, string> = {}) {
  return {
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: "2.0", ...message }),
  };
}

/** A request of the protocol version without sessions: it contains everything that the server knows of its client. */
export function statelessRequest(
  method: string,
  params: Record<string, unknown> = {},
  { client = "test", headers = {} }: { client?: string; headers?: Record<string, string> } = {},
) {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: client, version: "1.0.0" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const name = typeof params.name === "string" ? { "mcp-name": params.name } : {};
  return posted(
    { id: 1, method, params: { ...params, _meta } },
    { "mcp-protocol-version": "2026-07-28", "mcp-method": method, ...name, ...headers },
  );
}
