/** Starts a server in a sandbox that no tool of this program can use, so that nobody reads its variables there. */
import type { CallToolResult, ReadResourceResult, Tool } from "@modelcontextprotocol/server";
import type { Sandbox } from "cloud-sandbox";
import type { McpSession } from "cloud-sandbox-mcp-runner";
import type { McpServerConfiguration } from "cloud-sandbox-mcp-runner/configuration";
import { ServerFailure } from "../errors/server-failure.js";
import type { Owner } from "../ownership/sandbox-ledger.js";
import { looksSecret } from "../results/secret-values.js";
import { reachAdvice, reachOf, tellsOfNoNetwork } from "./configured-server.js";
import type { RunningServer, ServerEvents } from "./running-server.js";
import type { ServerPlace } from "./server-registry.js";

/** Owner of the servers' sandboxes. No client has this token digest, so no tool can use these sandboxes. */
const nobody: Owner = { tokenDigest: "sandboxes of MCP servers" };

/** Seconds that a server may take to answer after its start. */
const startSeconds = 60;
const resourceSeconds = 60;

export async function startServer(
  configuration: McpServerConfiguration,
  { client, ledger }: ServerPlace,
  events: ServerEvents,
): Promise<RunningServer> {
  const { McpRunner } = await import("cloud-sandbox-mcp-runner");
  const { name } = configuration;
  const reach = reachOf(configuration);
  let sandbox: Sandbox | undefined;
  const runner = new McpRunner({
    client,
    startSeconds,
    onInstallLog: (line) => events.onStep(`Installing ${name}: ${line.slice(0, 200)}`),
    onSandbox: (created) => {
      sandbox = created;
      ledger.add(created.id, nobody);
    },
  });
  const forget = (): void => {
    if (sandbox !== undefined) ledger.delete(sandbox.id);
  };
  const { name: _, ...entry } = configuration;
  runner.addServerFromDict(name, { ...entry, internet: reach === "all" || (reach !== "none" && reach) });
  events.onStep(`Starting ${name}`);
  const session = await runner.createSession(name, { signal: events.signal }).catch((error: unknown) => {
    forget();
    throw error;
  });
  session.client.onclose = events.onEnd;
  session.client.setNotificationHandler("notifications/tools/list_changed", events.onToolsChange);
  return new StartedServer(session, reachAdvice({ name, reach }), forget);
}

class StartedServer implements RunningServer {
  constructor(
    private readonly session: McpSession,
    private readonly networkAdvice: string,
    private readonly forget: () => void,
  ) {}

  async listTools(
    { signal }: Parameters<RunningServer["listTools"]>[0],
    timeoutSeconds: number,
  ): Promise<Tool[]> {
    return this.#shown(await this.session.listTools({ signal, timeoutSeconds })) as Tool[];
  }

  async callTool(
    ...[tool, args, { report, signal }, timeoutSeconds]: Parameters<RunningServer["callTool"]>
  ): Promise<CallToolResult> {
    const { McpToolError } = await import("cloud-sandbox-mcp-runner");
    try {
      const result = await this.session.callTool(tool, args, {
        signal,
        timeoutSeconds,
        onProgress: ({ message, progress, total }) =>
          report(message === undefined ? `${tool} is at work` : this.#shown(message), { progress, total }),
      });
      return this.#shown(result) as CallToolResult;
    } catch (error) {
      if (!(error instanceof McpToolError) || error.result === undefined) throw error;
      const result = this.#shown(error.result) as CallToolResult;
      const advice = [error.hint, tellsOfNoNetwork(error.summary) ? this.networkAdvice : undefined];
      const more = advice.flatMap((text) =>
        text ? [{ type: "text" as const, text: this.#shown(text) }] : [],
      );
      return { ...result, content: [...result.content, ...more] };
    }
  }

  async readResource(
    uri: string,
    { signal }: Parameters<RunningServer["readResource"]>[1],
  ): Promise<ReadResourceResult> {
    const { client, server } = this.session;
    try {
      const read = await client.readResource({ uri }, { signal, timeout: resourceSeconds * 1000 });
      return this.#shown(read) as ReadResourceResult;
    } catch (error) {
      const why = error instanceof Error ? this.#shown(error.message).slice(0, 500) : "it gave no reason";
      throw new ServerFailure(`Server ${server} cannot read ${this.#shown(uri).slice(0, 500)}: ${why}`);
    }
  }

  async extend(seconds: number): Promise<void> {
    await this.session.sandbox.setTimeout(seconds);
  }

  async close(): Promise<void> {
    await this.session.close();
    this.forget();
  }

  /** A value without the secrets among the server's variables. */
  #shown<Value>(value: Value): Value {
    return this.session.withoutVariables(value, isSecret);
  }
}

/** Plain words, paths and addresses are settings, which answers may repeat; everything else may be a secret. */
function isSecret(name: string, value: string): boolean {
  return looksSecret(name, value) || !/^(?:[a-z]+|(?:\.{0,2}|~)\/.*|https?:\/\/.*)$/.test(value);
}
