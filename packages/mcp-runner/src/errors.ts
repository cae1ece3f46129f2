/** The errors of this package. They extend the client's `SandboxError`, so that `isSandboxError` recognizes them. */
import { SandboxError, type SandboxErrorOptions } from "cloud-sandbox";

/** Options to construct an `McpServerError`. */
export interface McpServerErrorOptions extends Omit<SandboxErrorOptions, "requestId"> {
  /** The end of what the server wrote to standard error. */
  stderr?: string | undefined;
}

/** Base class of the errors about MCP servers in sandboxes. No error contains values of the server's variables. */
export class McpServerError extends SandboxError {
  /** The class name; correct even if a bundler renames the class. */
  override get name(): string {
    return "McpServerError";
  }
  /** The end of what the server wrote to standard error, at most 8 KiB; empty if it wrote nothing. */
  readonly stderr: string;

  constructor({ stderr = "", ...options }: McpServerErrorOptions) {
    super(stderr.trim() === "" ? options : { ...options, summary: withStderr(options.summary, stderr) });
    this.stderr = stderr;
  }
}

/** The configuration of a server is invalid, or there is no server of that name. */
export class McpConfigurationError extends McpServerError {
  /** The class name; correct even if a bundler renames the class. */
  override get name(): string {
    return "McpConfigurationError";
  }
  /** Path of the first invalid key in the server's configuration, such as `["env", "KEY"]`; empty if no single key is invalid. */
  readonly path: readonly (string | number)[];

  constructor({ path = [], ...options }: McpServerErrorOptions & { path?: readonly (string | number)[] }) {
    super(options);
    this.path = path;
  }
}

/** An install command failed or did not end. */
export class McpInstallError extends McpServerError {
  /** The class name; correct even if a bundler renames the class. */
  override get name(): string {
    return "McpInstallError";
  }
  /** What the install commands wrote, at most 64 KiB. */
  readonly output: string;
  /** Whether the network failed, as far as the output tells; else the commands are to be corrected. */
  readonly isOffline: boolean;

  constructor({
    output,
    isOffline,
    ...options
  }: McpServerErrorOptions & { output: string; isOffline: boolean }) {
    super(options);
    this.output = output;
    this.isOffline = isOffline;
  }
}

/** The server did not start: its program is missing, ended at once, or did not answer in time. */
export class McpStartError extends McpServerError {
  /** The class name; correct even if a bundler renames the class. */
  override get name(): string {
    return "McpStartError";
  }
}

/**
 * The server broke the protocol, or ended while it was used. `code` says how: SERVER_ENDED, NOT_A_MESSAGE,
 * MESSAGE_TOO_LARGE, UNKNOWN_REQUEST_ID, OUTPUT_LOST, INVALID_RESULT.
 */
export class McpProtocolError extends McpServerError {
  /** The class name; correct even if a bundler renames the class. */
  override get name(): string {
    return "McpProtocolError";
  }
}

/** The server refused a call, or its tool failed. */
export class McpToolError extends McpServerError {
  /** The class name; correct even if a bundler renames the class. */
  override get name(): string {
    return "McpToolError";
  }
  /** Name of the tool. */
  readonly tool: string;
  /** The tool's result, if the tool itself reported the failure. */
  readonly result: unknown;

  constructor({ result, tool, ...options }: McpServerErrorOptions & { tool: string; result?: unknown }) {
    super(options);
    this.tool = tool;
    this.result = result;
  }
}

/** Most characters of standard error in an error's message. The property `stderr` has more. */
const shown = 600;

function withStderr(summary: string, stderr: string): string {
  const text = stderr.trim();
  const end = (text.length > shown ? `…${text.slice(-shown)}` : text).replace(/\s*\n\s*/g, " | ");
  const wrote = `It wrote: ${end.replace(/\.$/, "")}.`;
  return summary.includes(wrote) ? summary : `${summary.replace(/[.\s]+$/, "")}. ${wrote}`;
}
