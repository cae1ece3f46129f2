import {
  type JSONRPCMessage,
  StreamableHTTPClientTransport,
  type Transport,
  type TransportSendOptions,
} from "@modelcontextprotocol/client";
import { type CommandStream, isSandboxError, type Sandbox } from "cloud-sandbox";
import { Secrets } from "../config/secrets.js";
import { McpProtocolError, McpStartError } from "../errors.js";
import { boundedFetch } from "./bounded-fetch.js";
import { HiddenLines } from "./hidden-lines.js";
import { repairedMessage } from "./repaired-message.js";
import type { SandboxStdioOptions } from "./sandbox-stdio-transport.js";

/** The SDK's type of the options of `send`, which differs from `TransportSendOptions` only in optional properties. */
type HttpSendOptions = Parameters<StreamableHTTPClientTransport["send"]>[1];

/** Options of a `SandboxHttpTransport`. */
export interface SandboxHttpOptions extends Omit<SandboxStdioOptions, "closeSeconds"> {
  /** The port that the server listens on, inside the sandbox. */
  port: number;
  /** Path of the server's endpoint. Default `/mcp`. */
  path?: string | undefined;
  /** Seconds that the server may take until it listens, at most 300. Default 60. */
  startSeconds?: number | undefined;
}

/**
 * A transport of the MCP SDK's client for a server that speaks Streamable HTTP on a port inside a sandbox: it starts the
 * server, waits for the port, and talks through the sandbox's preview URL. Anyone who knows that URL can talk to the
 * server, too.
 */
export class SandboxHttpTransport implements Transport {
  /** Called when the server has ended or the transport is closed. Set by the MCP client. */
  onclose?: (() => void) | undefined;
  /** Called with each error. Set by the MCP client. */
  onerror?: ((error: Error) => void) | undefined;
  /** Called with each message of the server. Set by the MCP client. */
  // biome-ignore lint/suspicious/noExplicitAny: both generations of the SDK set it, with parameters of their own
  onmessage?: ((message: any) => void) | undefined;

  readonly #sandbox: Sandbox;
  readonly #options: SandboxHttpOptions;
  readonly #output: HiddenLines;
  #http: StreamableHTTPClientTransport | undefined;
  #stream: CommandStream | undefined;
  #failure: McpProtocolError | McpStartError | undefined;
  #isClosing = false;

  /** Does not start the server. The MCP client does that with `start()`. */
  constructor(sandbox: Sandbox, options: SandboxHttpOptions) {
    this.#sandbox = sandbox;
    this.#options = options;
    this.#output = new HiddenLines(new Secrets(options.env), options.onStderr);
  }

  /** Why the server can no longer be used: undefined while it can, and after `close()`. */
  get failure(): McpProtocolError | McpStartError | undefined {
    return this.#failure;
  }

  /** The end of what the server wrote to standard output and standard error, without the values of `env`. */
  get stderr(): string {
    return this.#output.tail;
  }

  /** Whether each request has a connection of its own, as over HTTP. */
  get hasPerRequestStream(): boolean {
    return true;
  }

  /** The id that the server gave to this connection, if any. */
  get sessionId(): string | undefined {
    return this.#http?.sessionId;
  }

  /** Starts the server and waits until it listens. Called by the MCP client's `connect`. */
  async start(): Promise<void> {
    const {
      command,
      env,
      maxMessageLength = 16 * 1024 * 1024,
      path = "/mcp",
      port,
      startSeconds = 60,
      timeoutSeconds = 3600,
      workdir,
    } = this.#options;
    const stopWaiting = new AbortController();
    this.#stream = this.#sandbox.commands.stream(command, { env, timeoutSeconds, workdir });
    void this.#read(this.#stream).finally(() => stopWaiting.abort());
    try {
      await this.#sandbox.ports.waitForPort(port, {
        timeoutSeconds: startSeconds,
        signal: stopWaiting.signal,
      });
    } catch (cause) {
      throw this.#failure ?? this.#notListening(port, cause);
    }
    const secrets = new Secrets(env);
    const base = this.#sandbox.ports.previewUrl(port, { form: "path" });
    const http = new StreamableHTTPClientTransport(new URL(path.slice(1), base.replace(/\/*$/, "/")), {
      fetch: boundedFetch(maxMessageLength, () => this.#tooLarge(maxMessageLength)),
    });
    http.onmessage = (message) =>
      this.onmessage?.(repairedMessage(message, (what) => this.#leftOut(secrets.hide(what))));
    http.onerror = (error) => this.onerror?.(error);
    this.#http = http;
    await http.start();
  }

  /** Sends a message. */
  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (this.#http === undefined)
      throw new Error("This transport is not connected. Connect an MCP client to it first.");
    await this.#http.send(message, options as HttpSendOptions).catch((error: unknown) => {
      throw this.#failure ?? error;
    });
  }

  /** Sets the protocol version that client and server agreed on. Called by the MCP client. */
  setProtocolVersion(version: string): void {
    this.#http?.setProtocolVersion(version);
  }

  /** Kills the server. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#http?.close();
    this.#stream?.close();
  }

  async #read(stream: CommandStream): Promise<void> {
    try {
      for await (const event of stream) {
        if (event.type === "stdout" || event.type === "stderr") this.#output.add(event.text);
        else if (event.type === "result")
          this.#fail(`The server ended with exit code ${event.result.exitCode}.`);
      }
    } catch (cause) {
      this.#fail(`The server was lost: ${isSandboxError(cause) ? cause.summary : String(cause)}`, cause);
    }
    this.onclose?.();
  }

  #leftOut(what: string): void {
    this.onerror?.(
      new McpProtocolError({ summary: `Entries of a list are left out: ${what}.`, code: "INVALID_ENTRY" }),
    );
  }

  #fail(summary: string, cause?: unknown): void {
    if (this.#isClosing || this.#failure !== undefined) return;
    const options = { summary, cause, stderr: this.stderr };
    this.#failure =
      this.#http === undefined
        ? new McpStartError({ ...options, code: "SERVER_NOT_STARTED" })
        : new McpProtocolError({ ...options, code: "SERVER_ENDED", hint: "Start a new session." });
    this.onerror?.(this.#failure);
  }

  /** Ends the session: the rest of a message that is broken off cannot be told from the next one. */
  #tooLarge(limit: number): Error {
    this.#failure ??= new McpProtocolError({
      summary: `The server sent a message longer than ${limit} bytes.`,
      code: "MESSAGE_TOO_LARGE",
      hint: "Start a new session.",
      stderr: this.stderr,
    });
    this.onerror?.(this.#failure);
    this.close().catch(() => undefined);
    return this.#failure;
  }

  #notListening(port: number, cause: unknown): McpStartError {
    return new McpStartError({
      summary: `The server did not listen on port ${port}.`,
      hint: "Set port to the port on which the server's command listens.",
      code: "SERVER_NOT_STARTED",
      cause,
      stderr: this.stderr,
    });
  }
}
