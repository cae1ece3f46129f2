/** Starts a server in a sandbox that no tool of this program can use, so that nobody reads its variables there. */
import type { CallToolResult, ResultTypeMap, Tool } from "@modelcontextprotocol/server";
import type { Sandbox } from "cloud-sandbox";
import type { McpSession } from "cloud-sandbox-mcp-runner";
import type { McpServerConfiguration } from "cloud-sandbox-mcp-runner/configuration";
import { ServerFailure } from "../errors/errors.js";
import type { Owner } from "../ownership/sandbox-ledger.js";
import { looksSecret } from "../results/secret-values.js";
import { reachAdvice, reachOf, tellsOfNoNetwork } from "./configured-server.js";
import type {
  LogMessage,
  OtherLists,
  RelayedMethod,
  RelayedParams,
  RunningServer,
  ServerCall,
  ServerEvents,
} from "./running-server.js";
import type { ServerOwner, StartServer } from "./server-registry.js";

/** Owner of the servers' sandboxes. No client has this token digest, so no tool can use these sandboxes. */
const nobody: Owner = { tokenDigest: "sandboxes of MCP servers" };

/** Seconds that a server may take to answer after its start. */
const startSeconds = 60;
/** Seconds that it may take to list its prompts and resources, and to answer a request that is passed on. */
const relaySeconds = 60;

/** Starts servers, and reports to `log` what they list in a form that the protocol does not allow. */
export function serverStarter(log: (line: string) => void): StartServer {
  return (configuration, owner, events) => startServer(configuration, owner, events, log);
}

async function startServer(
  configuration: McpServerConfiguration,
  { client, ledger }: ServerOwner,
  events: ServerEvents,
  log: (line: string) => void,
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
  session.client.onerror = (error) => {
    if ("code" in error && error.code === "INVALID_ENTRY") log(`MCP server ${name}: ${error.message}`);
  };
  for (const list of ["tools", "prompts", "resources"] as const)
    session.client.setNotificationHandler(`notifications/${list}/list_changed`, events.onListChange);
  const server = new StartedServer(session, reachAdvice({ name, reach }), forget);
  session.client.setNotificationHandler("notifications/message", ({ params }) =>
    events.onLog(server.shown(params) as LogMessage),
  );
  return server;
}

interface RequestOptions {
  readonly signal: AbortSignal;
  readonly timeout: number;
}

const requests: {
  readonly [Method in RelayedMethod]: (
    client: McpSession["client"],
    params: RelayedParams<Method>,
    options: RequestOptions,
  ) => Promise<unknown>;
} = {
  "completion/complete": (client, params, options) => client.complete(params, options),
  "prompts/get": (client, params, options) => client.getPrompt(params, options),
  "resources/read": (client, params, options) => client.readResource(params, options),
};

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
    return this.shown(await this.session.listTools({ signal, timeoutSeconds })) as Tool[];
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
          report(message === undefined ? `${tool} is at work` : this.shown(message).slice(0, 1000), {
            progress,
            total,
          }),
      });
      return this.shown(result) as CallToolResult;
    } catch (error) {
      if (!(error instanceof McpToolError) || error.result === undefined) throw error;
      const result = this.shown(error.result) as CallToolResult;
      const advice = [error.hint, tellsOfNoNetwork(error.summary) ? this.networkAdvice : undefined];
      const more = advice.flatMap((text) =>
        text ? [{ type: "text" as const, text: this.shown(text) }] : [],
      );
      return { ...result, content: [...result.content, ...more] };
    }
  }

  async listOthers({ signal }: Pick<ServerCall, "signal">): Promise<OtherLists> {
    const { client } = this.session;
    const { completions, prompts, resources } = client.getServerCapabilities() ?? {};
    const options = { signal, timeout: relaySeconds * 1000 };
    const [listed, known, templates] = await Promise.all([
      prompts && client.listPrompts(undefined, options),
      resources && client.listResources(undefined, options),
      // Servers with resources need not have templates, and some then do not know the request.
      resources && client.listResourceTemplates(undefined, options).catch(() => undefined),
    ]);
    return this.shown({
      prompts: listed?.prompts ?? [],
      resources: known?.resources ?? [],
      resourceTemplates: templates?.resourceTemplates ?? [],
      completes: completions !== undefined,
    }) as OtherLists;
  }

  async relay<Method extends RelayedMethod>(
    method: Method,
    params: RelayedParams<Method>,
    { signal }: Pick<ServerCall, "signal">,
  ): Promise<ResultTypeMap[Method]> {
    const { client, server } = this.session;
    try {
      const result = await requests[method](client, params, { signal, timeout: relaySeconds * 1000 });
      return this.shown(result) as ResultTypeMap[Method];
    } catch (error) {
      const why = error instanceof Error ? this.shown(error.message).slice(0, 500) : "it gave no reason";
      const what =
        "uri" in params ? `cannot read ${this.shown(params.uri).slice(0, 500)}` : `refused ${method}`;
      throw new ServerFailure(`Server ${server} ${what}: ${why}`);
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
  shown<Value>(value: Value): Value {
    return this.session.withoutVariables(value, isSecret);
  }
}

/** Plain words, paths and addresses are settings, which answers may repeat; everything else may be a secret. */
function isSecret(name: string, value: string): boolean {
  return looksSecret(name, value) || !/^(?:[a-z]+|(?:\.{0,2}|~)\/.*|https?:\/\/.*)$/.test(value);
}
