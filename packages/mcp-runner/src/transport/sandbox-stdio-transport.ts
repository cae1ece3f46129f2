import {
  isJSONRPCRequest,
  type JSONRPCMessage,
  parseJSONRPCMessage,
  type RequestId,
  type Transport,
} from "@modelcontextprotocol/client";
import { type CommandStream, isSandboxError, type Sandbox, type StreamedResult } from "cloud-sandbox";
import { Secrets } from "../config/secrets.js";
import { McpProtocolError, McpServerError, McpStartError } from "../errors.js";
import { HiddenLines } from "./hidden-lines.js";
import { MessageLines } from "./message-lines.js";
import { repairedMessage } from "./repaired-message.js";

/** Options of a `SandboxStdioTransport`. */
export interface SandboxStdioOptions {
  /** What starts the server: a bash command line, or a program and its arguments, taken literally. */
  command: string | readonly string[];
  /** Variables of the server's process. Their values are in no error. */
  env?: Readonly<Record<string, string>> | undefined;
  /** Working directory. Default /workspace. */
  workdir?: string | undefined;
  /** Seconds after which the server is killed, at most 86,400. Default 3600. The sandbox's lifetime ends it, too. */
  timeoutSeconds?: number | undefined;
  /** Most characters of a message, in both directions. Default 16 Mi. */
  maxMessageLength?: number | undefined;
  /** Seconds that the server gets to end by itself when the transport is closed. Default 2. */
  closeSeconds?: number | undefined;
  /** Called with lines of the server's standard error, without the values of `env`. */
  onStderr?: ((text: string) => void) | undefined;
  /** @internal The stream of the server's command, if it was started before. */
  stream?: CommandStream | undefined;
}

/**
 * A transport of the MCP SDK's client that speaks stdio with a server in a sandbox, in place of the SDK's
 * `StdioClientTransport`. It works with clients of `@modelcontextprotocol/client` and of `@modelcontextprotocol/sdk`.
 *
 * Closing the transport ends the server, not the sandbox.
 *
 * ```ts
 * const transport = new SandboxStdioTransport(sandbox, { command: ["node", "server.js"] });
 * await client.connect(transport);
 * ```
 */
export class SandboxStdioTransport implements Transport {
  /** Called when the server has ended or the transport is closed. Set by the MCP client. */
  onclose?: (() => void) | undefined;
  /** Called with each error, also with those that do not end the connection. Set by the MCP client. */
  onerror?: ((error: Error) => void) | undefined;
  /** Called with each message of the server. Set by the MCP client. */
  // biome-ignore lint/suspicious/noExplicitAny: both generations of the SDK set it, with parameters of their own
  onmessage?: ((message: any) => void) | undefined;

  readonly #sandbox: Sandbox;
  readonly #options: SandboxStdioOptions;
  readonly #limit: number;
  readonly #secrets: Secrets;
  readonly #lines: MessageLines;
  readonly #sent = new SentRequests();
  readonly #stderr: HiddenLines;
  /** Lines of standard output that are not messages. */
  readonly #printed: HiddenLines;
  #stream: CommandStream | undefined;
  #reading: Promise<void> | undefined;
  #failure: McpServerError | undefined;
  #isClosing = false;
  #messages = 0;
  #noise = 0;
  #noiseLength = 0;
  #firstNoise: McpProtocolError | undefined;
  #refused: string | undefined;

  /** Does not start the server. The MCP client does that with `start()`. */
  constructor(sandbox: Sandbox, options: SandboxStdioOptions) {
    const { env, maxMessageLength = 16 * 1024 * 1024 } = options;
    this.#sandbox = sandbox;
    this.#options = options;
    this.#limit = maxMessageLength;
    this.#secrets = new Secrets(env);
    this.#stderr = new HiddenLines(this.#secrets, options.onStderr);
    this.#printed = new HiddenLines(this.#secrets);
    this.#lines = new MessageLines(maxMessageLength, () => {
      throw this.#broken(
        "MESSAGE_TOO_LARGE",
        `The server sent a message longer than ${this.#limit} characters`,
      );
    });
  }

  /** Why the server can no longer be used: undefined while it can, and after `close()`. */
  get failure(): McpServerError | undefined {
    return this.#failure;
  }

  /** The error for the first line on the server's standard output that was not an MCP message. Undefined if there was none. */
  get noise(): McpProtocolError | undefined {
    return this.#firstNoise;
  }

  /** The method of the server's last request that only a model or a person could answer, such as `sampling/createMessage`. */
  get refusedRequest(): string | undefined {
    return this.#refused;
  }

  /** The end of the server's standard error, without the values of `env`. */
  get stderr(): string {
    return this.#stderr.tail;
  }

  /** Starts the server (WebSocket /commands/stream). Called by the MCP client's `connect`. */
  async start(): Promise<void> {
    if (this.#stream !== undefined) throw new Error("This transport was started already. Create a new one.");
    const { command, env, stream, timeoutSeconds = 3600, workdir } = this.#options;
    this.#stream =
      stream ?? this.#sandbox.commands.stream(command, { env, stdin: true, timeoutSeconds, workdir });
    this.#reading = this.#read(this.#stream);
  }

  /** Sends a message. Messages that are sent at the same time reach the server one after the other. */
  async send(message: JSONRPCMessage): Promise<void> {
    const stream = this.#stream;
    if (this.#failure !== undefined) throw this.#failure;
    if (stream === undefined || this.#isClosing)
      throw new Error("This transport is not connected. Connect an MCP client to it first.");
    const line = `${JSON.stringify(message)}\n`;
    if (line.length > this.#limit)
      throw this.#broken(
        "MESSAGE_TOO_LARGE",
        `A message of ${line.length} characters was not sent, because the limit is ${this.#limit}`,
      );
    this.#sent.add(message);
    await stream.write(line).catch((error: unknown) => {
      throw this.#failure ?? error;
    });
  }

  /** Closes the server's standard input, and kills the server if it has not ended after `closeSeconds`. */
  async close(): Promise<void> {
    const { closeSeconds = 2 } = this.#options;
    this.#isClosing = true;
    const stream = this.#stream;
    if (stream === undefined) return;
    if (closeSeconds > 0) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const enough = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, closeSeconds * 1000);
      });
      const ended = stream.end().then(
        () => this.#reading,
        () => undefined,
      );
      await Promise.race([ended, enough]);
      clearTimeout(timer);
    }
    stream.close();
    await this.#reading;
  }

  async #read(stream: CommandStream): Promise<void> {
    try {
      for await (const event of stream) {
        if (event.type === "stdout") {
          if (event.skippedBytes > 0)
            throw this.#broken("OUTPUT_LOST", `${event.skippedBytes} bytes of the server's output were lost`);
          for (const line of this.#lines.add(event.text)) {
            // The SDK handles a notification a moment later, but an answer at once. Without a pause it would drop the last
            // report of progress when the answer comes right after it.
            if (this.#take(line) === "notification") await new Promise((resolve) => setImmediate(resolve));
          }
        } else if (event.type === "stderr") {
          this.#stderr.add(event.text);
        } else if (event.type === "result") {
          this.#fail(this.#ended(event.result));
        }
      }
    } catch (error) {
      this.#fail(this.#asServerError(error));
    }
    this.#stderr.end();
    this.onclose?.();
  }

  /** Passes a message to the client and returns its kind. */
  #take(line: string): "notification" | "other" {
    if (line.trim() === "") return "other";
    let message: JSONRPCMessage;
    try {
      message = parseJSONRPCMessage(repairedMessage(JSON.parse(line), (what) => this.#leftOut(what)));
    } catch {
      this.#skipNoise(line);
      return "other";
    }
    if ("id" in message && !("method" in message)) this.#expect(message.id);
    else if (isJSONRPCRequest(message)) {
      // Only clients send this request: the program sends back what it reads.
      if (message.method === "initialize") throw sentBack();
      if (needsModel.has(message.method)) this.#refused = message.method;
    }
    this.#messages += 1;
    this.onmessage?.(message);
    return "id" in message ? "other" : "notification";
  }

  #expect(id: RequestId | undefined): void {
    if (id === undefined || this.#sent.has(id)) return;
    const shown = this.#secrets.hide(JSON.stringify(id)).slice(0, 40);
    throw this.#broken("UNKNOWN_REQUEST_ID", `The server answered a request that was never sent, ${shown}`);
  }

  #leftOut(what: string): void {
    this.onerror?.(
      this.#broken("INVALID_ENTRY", `Entries of a list are left out: ${this.#secrets.hide(what)}`),
    );
  }

  /**
   * Reports a line on standard output that is not a message. Such lines are skipped, because many servers print a greeting.
   * More than `mostNoise` of them end the server.
   */
  #skipNoise(line: string): void {
    this.#noise += 1;
    this.#printed.add(`${line}\n`);
    this.#noiseLength += line.length;
    const shown = this.#secrets.hide(line).slice(0, 200);
    const error = this.#broken(
      "NOT_A_MESSAGE",
      `The server wrote a line to standard output that is not an MCP message: ${shown}`,
    );
    this.#firstNoise ??= error;
    if (this.#noise > mostNoise || this.#noiseLength > mostNoiseLength) throw this.#firstNoise;
    this.onerror?.(error);
  }

  #ended({ exitCode, terminationReason }: StreamedResult): McpServerError {
    const why =
      terminationReason === undefined || terminationReason === "exit"
        ? `with exit code ${exitCode}`
        : (endings[terminationReason] ?? `(${terminationReason})`);
    if (this.#messages > 0)
      return new McpProtocolError({
        summary: `The server ended ${why}.`,
        hint: "Start a new session.",
        code: "SERVER_ENDED",
        stderr: this.stderr,
      });
    // The shell's exit codes for a program that could not be started, which says so on standard error.
    const isAbsent = (exitCode === 126 || exitCode === 127) && this.stderr.trim() !== "";
    const hasPrinted = this.#noise > 0 || this.#lines.rest !== "";
    return new McpStartError({
      summary: isAbsent ? "The server did not start." : `The server ended ${why} before it answered.`,
      hint: hasPrinted && exitCode === 0 ? noMessageHint : startHint(exitCode),
      code: "SERVER_NOT_STARTED",
      // Installers and programs that are no MCP server say what happened on standard output.
      stderr: `${this.#printed.tail}${this.#secrets.hide(this.#lines.rest)}\n${this.stderr}`,
    });
  }

  #asServerError(error: unknown): McpServerError {
    if (error instanceof McpServerError) return error;
    const summary = isSandboxError(error) ? error.summary : String(error);
    const options = {
      cause: error,
      stderr: this.stderr,
      hint: isSandboxError(error) ? error.hint : undefined,
    };
    return this.#messages > 0
      ? new McpProtocolError({ summary: `The server was lost: ${summary}`, code: "SERVER_LOST", ...options })
      : new McpStartError({
          summary: `The server did not start: ${summary}`,
          code: "SERVER_NOT_STARTED",
          ...options,
        });
  }

  #broken(code: string, summary: string): McpProtocolError {
    return new McpProtocolError({
      summary: `${summary}.`,
      hint: code === "NOT_A_MESSAGE" ? noMessageHint : undefined,
      code,
    });
  }

  #fail(failure: McpServerError): void {
    if (this.#isClosing || this.#failure !== undefined) return;
    this.#failure = failure;
    this.onerror?.(failure);
  }
}

const noMessageHint = "Check that the command starts an MCP server, which must log to standard error.";

const sentBack = (): McpStartError =>
  new McpStartError({
    summary: "The program sends back what it is sent, so it is not an MCP server.",
    hint: "Give the command of an MCP server that speaks stdio.",
    code: "SERVER_NOT_STARTED",
  });

/** Requests that only an assistant with a model or a person can answer. */
const needsModel = new Set(["sampling/createMessage", "elicitation/create"]);
/** Most lines and characters on standard output that are not messages before the server is ended. */
const mostNoise = 100;
const mostNoiseLength = 64 * 1024;

const endings: Readonly<Record<string, string>> = {
  timeout: "because its time limit was reached",
  out_of_memory: "because the sandbox ran out of memory",
  killed: "because it was killed",
  signal: "by a signal",
};

function startHint(exitCode: number): string {
  return exitCode === 127
    ? "The server's program is not in the sandbox. Install it with installCommands."
    : "Read what the server wrote, and correct its command.";
}

/** Ids of the requests that a client has sent, so that an answer to a request that was never sent is noticed. */
class SentRequests {
  /** Highest id so far. Clients number their requests, so every number up to this one was used. */
  #highest = -1;
  /** The latest ids that are not such numbers. */
  readonly #others = new Set<RequestId>();

  add(message: JSONRPCMessage): void {
    if (!("method" in message) || !("id" in message)) return;
    const { id } = message;
    if (typeof id === "number" && Number.isInteger(id)) this.#highest = Math.max(this.#highest, id);
    else this.#others.add(id);
    const [oldest] = this.#others;
    if (this.#others.size > mostOthers && oldest !== undefined) this.#others.delete(oldest);
  }

  has(id: RequestId): boolean {
    if (typeof id === "number" && id >= 0 && id <= this.#highest) return true;
    return this.#others.has(id);
  }
}

const mostOthers = 10_000;
