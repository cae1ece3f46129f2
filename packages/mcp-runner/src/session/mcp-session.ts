import {
  type CallToolResult,
  Client,
  type ClientOptions,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  type Tool,
} from "@modelcontextprotocol/client";
import { AbortError, isSandboxError, type Sandbox, TimeoutError } from "cloud-sandbox";
import { Secrets } from "../config/secrets.js";
import { McpProtocolError, McpStartError, McpToolError } from "../errors.js";
import type { SandboxHttpTransport } from "../transport/sandbox-http-transport.js";
import { SandboxStdioTransport } from "../transport/sandbox-stdio-transport.js";

/** Options of a call to a server. */
export interface McpCallOptions {
  /** Seconds to wait for the answer. Each report of progress restarts the count. Default: the runner's `callSeconds`. */
  timeoutSeconds?: number | undefined;
  /** Cancels the call. */
  signal?: AbortSignal | undefined;
  /** Called when the server reports progress. */
  onProgress?: ((progress: McpProgress) => void) | undefined;
}

/** The progress of a call, as the server reports it. */
export interface McpProgress {
  /** A number that grows with each report. */
  progress: number;
  /** The value of `progress` at the end, if the server knows it. */
  total?: number | undefined;
  /** What the server is doing, for people. */
  message?: string | undefined;
}

/** The parts from which a session is made. */
export interface SessionParts {
  readonly server: string;
  readonly sandbox: Sandbox;
  readonly transport: SandboxStdioTransport | SandboxHttpTransport;
  readonly variables: Readonly<Record<string, string>>;
  readonly startSeconds: number;
  readonly callSeconds: number;
  readonly signal: AbortSignal | undefined;
  readonly ended: (session: McpSession) => void;
}

/**
 * A running MCP server in a sandbox of its own. `close()`, or the end of the scope of `await using`, deletes the sandbox.
 */
export class McpSession implements AsyncDisposable {
  /** Id of this session: a UUID. */
  readonly sessionId = globalThis.crypto.randomUUID();
  /** Name of the server. */
  readonly server: string;
  /** The client of the MCP SDK that is connected to the server, for everything that this class does not offer. */
  readonly client: Client;
  /** The sandbox that the server runs in. */
  readonly sandbox: Sandbox;
  readonly #parts: SessionParts;
  readonly #secrets: Secrets;
  #closing: Promise<void> | undefined;

  /** @internal */
  static async open(parts: SessionParts): Promise<McpSession> {
    const session = new McpSession(parts);
    try {
      const { signal, startSeconds, transport } = parts;
      await session.client.connect(transport, { ...(signal && { signal }), timeout: startSeconds * 1000 });
      return session;
    } catch (error) {
      throw session.#explained(error, "start");
    }
  }

  private constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#secrets = new Secrets(parts.variables);
    this.server = parts.server;
    this.sandbox = parts.sandbox;
    this.client = new Client(
      { name: "cloud-sandbox-mcp-runner", version: "0.1.0" },
      { jsonSchemaValidator: acceptsAll },
    );
  }

  /** Id of the sandbox. */
  get sandboxId(): string {
    return this.sandbox.id;
  }

  /** The server's tools. */
  async listTools(options: McpCallOptions = {}): Promise<Tool[]> {
    // The SDK would return no tools either, but write a line to standard output, on which an MCP server speaks.
    if (this.client.getServerCapabilities()?.tools === undefined) return [];
    try {
      const { tools } = await this.client.listTools(undefined, this.#requestOptions(options));
      return tools;
    } catch (error) {
      throw this.#explained(error, "tools/list");
    }
  }

  /**
   * Calls a tool. Rejects with an `McpToolError` if the tool fails or does not exist, with an `McpProtocolError` if the
   * server ends or breaks the protocol, and with a `TimeoutError` if it does not answer in time.
   */
  async callTool(
    name: string,
    args: Readonly<Record<string, unknown>> = {},
    options: McpCallOptions = {},
  ): Promise<CallToolResult> {
    let result: CallToolResult;
    try {
      result = await this.client.callTool({ name, arguments: { ...args } }, this.#requestOptions(options));
    } catch (error) {
      if (error instanceof ProtocolError) throw await this.#refused(name, error, options);
      throw this.#explained(error, name);
    }
    if (result.isError === true) throw await this.#failed(name, result, options);
    return result;
  }

  /**
   * Returns the JSON value `value` without the values of the server's variables, for readers who must not know them. With
   * `isSecret`, only variables for which it returns true are hidden. Values shorter than 6 characters are not hidden.
   */
  withoutVariables<Value>(
    value: Value,
    isSecret: (name: string, value: string) => boolean = () => true,
  ): Value {
    const chosen = Object.entries(this.#parts.variables).filter(([name, each]) => isSecret(name, each));
    return new Secrets(Object.fromEntries(chosen)).hideDeep(value) as Value;
  }

  /** Ends the server and deletes the sandbox. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Same as `close()`, at the end of the scope of `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    try {
      // Both at once: the end of the sandbox ends the server, whatever became of the connection.
      await Promise.all([this.client.close().catch(() => undefined), this.sandbox.delete()]);
    } finally {
      this.#parts.ended(this);
    }
  }

  #requestOptions({ onProgress, signal, timeoutSeconds = this.#parts.callSeconds }: McpCallOptions) {
    return {
      timeout: timeoutSeconds * 1000,
      resetTimeoutOnProgress: true,
      ...(signal && { signal }),
      ...(onProgress && { onprogress: onProgress }),
    };
  }

  async #failed(tool: string, result: CallToolResult, options: McpCallOptions): Promise<McpToolError> {
    const texts = result.content.flatMap((item) => (item.type === "text" ? [item.text] : []));
    const text = this.#secrets.hide(texts.join("\n")).trim();
    return new McpToolError({
      summary: `Tool "${tool}" of server "${this.server}" failed: ${text.slice(0, 2000) || "it does not say why"}`,
      hint: (await this.#hintFor(tool, options)) ?? this.#refusalHint(),
      code: "TOOL_FAILED",
      tool,
      result: this.#secrets.hideDeep(result),
    });
  }

  async #refused(tool: string, error: ProtocolError, options: McpCallOptions): Promise<McpToolError> {
    const hint = await this.#hintFor(tool, options);
    return new McpToolError({
      summary: `Server "${this.server}" refused the call of tool "${tool}": ${this.#secrets.hide(error.message).slice(0, 2000)}`,
      hint: hint ?? this.#refusalHint(),
      code: hint === undefined ? "TOOL_REFUSED" : "TOOL_NOT_FOUND",
      tool,
    });
  }

  /** A hint with the names of the server's tools, if none of them has that name. */
  async #hintFor(tool: string, options: McpCallOptions): Promise<string | undefined> {
    const names = await this.listTools({ signal: options.signal }).then(
      (tools) => tools.map(({ name }) => name),
      () => [tool],
    );
    if (names.includes(tool)) return undefined;
    const listed = this.#secrets.hide(names.join(", ")) || "none";
    return `The server's tools are: ${listed.length > 2000 ? `${listed.slice(0, 2000)}…` : `${listed}.`}`;
  }

  #refusalHint(): string | undefined {
    const { transport } = this.#parts;
    const request = transport instanceof SandboxStdioTransport ? transport.refusedRequest : undefined;
    return request === undefined
      ? undefined
      : `The server asked for ${request}, which was refused, because no model or person is connected to answer it.`;
  }

  /** The most specific error for a failed call. */
  #explained(error: unknown, what: string): unknown {
    const { signal, transport } = this.#parts;
    if (transport.failure !== undefined) return transport.failure;
    if (signal?.aborted) return new AbortError(signal.reason);
    const noise = transport instanceof SandboxStdioTransport ? transport.noise : undefined;
    const { stderr } = transport;
    const label = `Server "${this.server}"`;
    if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) {
      if (noise !== undefined) return noise;
      if (what === "start")
        return new McpStartError({
          summary: `${label} did not answer within ${this.#parts.startSeconds} s after its start.`,
          hint:
            this.#refusalHint() ?? "Check that the server's command starts an MCP server that speaks stdio.",
          code: "SERVER_SILENT",
          stderr,
        });
      const refusal = this.#refusalHint();
      return new TimeoutError({
        summary: `${label} did not answer ${what} in time.`,
        hint: refusal ?? "Allow more time with timeoutSeconds.",
        kind: "request",
        code: refusal === undefined ? "CALL_TIMEOUT" : "REQUEST_REFUSED",
      });
    }
    // No error below has a cause: what the SDK says may have values of variables, which the server has sent.
    if (error instanceof Error && error.name === "ZodError")
      return new McpProtocolError({
        summary: `${label} answered ${what} with a result that the protocol does not allow.`,
        hint: "Use another version of the server, or report the problem to its authors.",
        code: "INVALID_RESULT",
        stderr,
      });
    const isOfSdk = error instanceof ProtocolError || error instanceof SdkError;
    // For a version of the protocol that it does not know, the SDK throws an error without a class of its own.
    const isOfStart = what === "start" && error instanceof Error && !isSandboxError(error);
    if (!isOfSdk && !isOfStart) return error;
    const summary = `${label}, ${what}: ${this.#secrets.hide(error.message).replace(/\s+/g, " ").slice(0, 500)}`;
    return what === "start"
      ? new McpStartError({ summary, code: "SERVER_NOT_STARTED", stderr })
      : new McpProtocolError({ summary, code: "INVALID_RESULT", stderr });
  }
}

/**
 * Accepts every structured result. A schema is the server's own: checking a result with it says nothing about the result, and
 * with a pattern such as `^(a+)+$` would block this process for good.
 */
const acceptsAll: NonNullable<ClientOptions["jsonSchemaValidator"]> = {
  getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
};
