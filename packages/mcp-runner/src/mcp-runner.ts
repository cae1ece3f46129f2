import type { CallToolResult, Tool } from "@modelcontextprotocol/client";
import { AbortError, type CommandStream, type Sandbox, SandboxClient } from "cloud-sandbox";
import {
  type McpServerConfiguration,
  type McpServerOptions,
  serverConfiguration,
} from "./config/server-configuration.js";
import { withoutSecrets } from "./config/server-secrets.js";
import { resolvedVariables } from "./config/variables.js";
import { McpConfigurationError } from "./errors.js";
import { InstallLayers, type InstallReports, installIn } from "./session/install.js";
import type { McpCallOptions, McpSession } from "./session/mcp-session.js";
import type { SandboxHttpTransport } from "./transport/sandbox-http-transport.js";
import type { SandboxStdioOptions, SandboxStdioTransport } from "./transport/sandbox-stdio-transport.js";

/** Options of an `McpRunner`. */
export interface McpRunnerOptions {
  /** The client to create sandboxes with, which `close()` does not close. Default: a new client, which `close()` closes. */
  client?: SandboxClient | undefined;
  /** The variables that `${NAME}` in a server's `env` refers to. Default: this process's environment. */
  environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** Seconds that a server may take to answer after its start. Default 60. */
  startSeconds?: number | undefined;
  /** Seconds to wait for the answer of a call. Default 60. */
  callSeconds?: number | undefined;
  /** Most characters of a message. Default 16 Mi. */
  maxMessageLength?: number | undefined;
  /** Called with each line of the output of install commands. */
  onInstallLog?: ((line: string) => void) | undefined;
  /** Called with a notice for people, for example that the backend builds no templates, so every session installs the server anew. */
  onNotice?: ((notice: string) => void) | undefined;
  /** Called with each new sandbox, before a server runs in it. */
  onSandbox?: ((sandbox: Sandbox) => void) | undefined;
  /** Called with lines of a server's standard error, without the values of its variables. */
  onStderr?: ((text: string) => void) | undefined;
}

/**
 * Runs other people's MCP servers, each session in a sandbox of its own.
 *
 * ```ts
 * await using runner = new McpRunner();
 * runner.addServer({ name: "files", command: "mcp-server-filesystem /workspace",
 *   installCommands: ["npm install -g @modelcontextprotocol/server-filesystem"] });
 * const result = await runner.executeTool("files", "list_directory", { path: "/workspace" });
 * ```
 */
export class McpRunner implements AsyncDisposable {
  readonly #options: McpRunnerOptions;
  readonly #client: SandboxClient;
  readonly #layers: InstallLayers;
  readonly #servers = new Map<string, McpServerConfiguration>();
  readonly #sessions = new Set<McpSession>();
  readonly #starts = new Set<Promise<McpSession>>();
  readonly #closing = new AbortController();

  /** Sends no request. Without `client`, throws a `ConfigurationError` if no client can be created. */
  constructor(options: McpRunnerOptions = {}) {
    this.#options = options;
    this.#client = options.client ?? new SandboxClient();
    this.#layers = new InstallLayers(this.#client);
  }

  /** Adds a server. Throws an `McpConfigurationError` if it is invalid or another server has the name. */
  addServer({ name, ...server }: McpServerOptions): void {
    this.addServerFromDict(name, server);
  }

  /**
   * Adds a server that is described as in a file: in this package's spelling, in that of e2b-mcp (`install_commands`,
   * `timeout_minutes`), or as an entry of an assistant's `mcpServers`.
   */
  addServerFromDict(name: string, server: unknown): void {
    const configuration = serverConfiguration(name, server);
    if (this.#servers.has(name))
      throw new McpConfigurationError({
        summary: `There is a server "${name}" already.`,
        hint: "Remove that server first, or choose another name.",
        code: "SERVER_EXISTS",
      });
    this.#servers.set(name, configuration);
  }

  /** The servers, in the order in which they were added. */
  listServers(): McpServerConfiguration[] {
    return [...this.#servers.values()];
  }

  /** Removes a server; its sessions continue. Returns whether there was one. */
  removeServer(name: string): boolean {
    return this.#servers.delete(name);
  }

  /** Lists the tools of a server. Starts a session for it, which then ends. */
  async discoverTools(server: string, options: McpCallOptions = {}): Promise<Tool[]> {
    await using session = await this.createSession(server, options);
    return await session.listTools(options);
  }

  /**
   * Calls a tool of a server. Starts a session for the call, which then ends. Rejects with an `McpInstallError` or
   * `McpStartError` if the server cannot be installed or started, else with the errors of `McpSession.callTool`.
   */
  async executeTool(
    server: string,
    tool: string,
    args: Readonly<Record<string, unknown>> = {},
    options: McpCallOptions = {},
  ): Promise<CallToolResult> {
    await using session = await this.createSession(server, options);
    return await session.callTool(tool, args, options);
  }

  /**
   * Starts a server in a new sandbox. The session ends with `close()`, with the runner, or after the server's
   * `timeoutMinutes`. If the start fails, its sandbox is deleted.
   */
  async createSession(server: string, { signal }: Pick<McpCallOptions, "signal"> = {}): Promise<McpSession> {
    // A signal of its own: whoever is called with it may leave a listener on it.
    const own = AbortSignal.any([this.#closing.signal, ...(signal ? [signal] : [])]);
    const start = this.#startSession(server, own);
    this.#starts.add(start);
    return start.finally(() => this.#starts.delete(start));
  }

  async #startSession(server: string, signal: AbortSignal): Promise<McpSession> {
    const { configuration, sandbox, variables } = await this.#prepare(server, signal);
    try {
      const isStdio = configuration.port === undefined;
      const stream = isStdio ? await started(sandbox, configuration, variables, signal) : undefined;
      // Load the MCP SDK while the server starts: that takes as long.
      const { McpSession } = await import("./session/mcp-session.js");
      const session = await McpSession.open({
        server,
        sandbox,
        variables,
        transport: await this.#transport(sandbox, configuration, variables, { closeSeconds: 0, stream }),
        startSeconds: this.#options.startSeconds ?? 60,
        callSeconds: this.#options.callSeconds ?? 60,
        signal,
        ended: (ended) => void this.#sessions.delete(ended),
      });
      this.#sessions.add(session);
      return session;
    } catch (error) {
      const { withFailedConnections } = await import("./session/failed-connections.js");
      const start = { client: this.#client, sandboxId: sandbox.id, variables, signal };
      const explained = await withFailedConnections(error, start);
      // Ignore an error of the deletion: the error of the start is reported, and the sandbox ends with its lifetime.
      await sandbox.delete().catch(() => undefined);
      throw explained;
    }
  }

  /**
   * Creates a sandbox with a server installed, and a transport to that server for an MCP client of your own. The transport
   * is not started yet. Closing the transport closes the server's standard input, and kills a server that runs on for 2 s. You
   * delete the sandbox.
   */
  async createTransport(
    server: string,
    { signal }: Pick<McpCallOptions, "signal"> = {},
  ): Promise<{ sandbox: Sandbox; transport: SandboxStdioTransport | SandboxHttpTransport }> {
    const { configuration, sandbox, variables } = await this.#prepare(server, signal);
    return { sandbox, transport: await this.#transport(sandbox, configuration, variables) };
  }

  /** Creates a sandbox in which the server is installed. */
  async #prepare(server: string, signal: AbortSignal | undefined) {
    const configuration = this.#server(server);
    const { environment = process.env, onInstallLog, onNotice, onSandbox } = this.#options;
    const all = resolvedVariables(configuration, environment);
    const { secrets, variables } = withoutSecrets(configuration, all, environment);
    const reports: InstallReports = { onInstallLog, onNotice, signal };
    const { isInstalled, sandbox } = await this.#layers.create(configuration, reports, (template) =>
      this.#client.sandboxes.create({
        template,
        timeoutSeconds: lifetimeOf(configuration),
        metadata: { "mcp-server": server },
        secrets,
        signal,
        ...reachOf(configuration),
      }),
    );
    onSandbox?.(sandbox);
    try {
      if (!isInstalled) await installIn(sandbox, configuration, reports);
      return { configuration, sandbox, variables };
    } catch (error) {
      await sandbox.delete().catch(() => undefined);
      throw error;
    }
  }

  /** Ends all sessions, also those that are being started, and closes the client if the runner created it. */
  async close(): Promise<void> {
    this.#closing.abort(new Error("The runner was closed."));
    await Promise.allSettled(this.#starts);
    await Promise.all([...this.#sessions].map((session) => session.close()));
    if (this.#options.client === undefined) await this.#client.close();
  }

  /** Same as `close()`, at the end of the scope of `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #server(name: string): McpServerConfiguration {
    const server = this.#servers.get(name);
    if (server !== undefined) return server;
    const names = [...this.#servers.keys()];
    throw new McpConfigurationError({
      summary: `There is no server "${name}".`,
      hint: names.length === 0 ? "Add the server first." : `The servers are: ${names.join(", ")}.`,
      code: "SERVER_UNKNOWN",
    });
  }

  async #transport(
    sandbox: Sandbox,
    server: McpServerConfiguration,
    env: Readonly<Record<string, string>>,
    session?: Pick<SandboxStdioOptions, "closeSeconds" | "stream">,
  ): Promise<SandboxStdioTransport | SandboxHttpTransport> {
    const { path, port, workdir } = server;
    const { maxMessageLength, onStderr, startSeconds } = this.#options;
    const shared = { command: commandOf(server), env, workdir, onStderr, timeoutSeconds: day };
    if (port === undefined) {
      const { SandboxStdioTransport } = await import("./transport/sandbox-stdio-transport.js");
      return new SandboxStdioTransport(sandbox, { ...shared, maxMessageLength, ...session });
    }
    const { SandboxHttpTransport } = await import("./transport/sandbox-http-transport.js");
    return new SandboxHttpTransport(sandbox, { ...shared, maxMessageLength, port, path, startSeconds });
  }
}

/**
 * Seconds in a day, the longest time limit of a command. The server may run that long: it ends earlier with its sandbox, whose
 * deadline can be extended.
 */
const day = 86_400;

function commandOf({ args, command }: McpServerConfiguration): string | readonly string[] {
  return args === undefined ? command : [command, ...args];
}

/** Starts a server that speaks stdio. What it prints waits until the stream is read. */
async function started(
  sandbox: Sandbox,
  server: McpServerConfiguration,
  env: Readonly<Record<string, string>>,
  signal: AbortSignal | undefined,
): Promise<CommandStream> {
  const options = { env, stdin: true, timeoutSeconds: day, workdir: server.workdir };
  const stream = sandbox.commands.stream(commandOf(server), options);
  const abort = (): void => stream.close();
  signal?.addEventListener("abort", abort);
  try {
    // Ignore a failure to start: the reader of the stream gets it.
    await stream.write("").catch(() => undefined);
    if (signal?.aborted) throw new AbortError(signal.reason);
    return stream;
  } finally {
    signal?.removeEventListener("abort", abort);
  }
}

function lifetimeOf({ timeoutMinutes }: McpServerConfiguration): number {
  return Math.ceil(timeoutMinutes * 60);
}

function reachOf({ internet }: McpServerConfiguration) {
  if (internet === undefined) return {};
  return typeof internet === "boolean" ? { internetAccess: internet } : { egress: { allow: internet } };
}
