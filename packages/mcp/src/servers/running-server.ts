/** A server that runs: what the rest of this program uses of it. */
import type { CallToolResult, ReadResourceResult, Tool } from "@modelcontextprotocol/server";

/** The progress of a call, as the server reports it. */
export interface Measured {
  readonly progress: number;
  readonly total?: number | undefined;
}

/** The caller's part of a call to a server. */
export interface ServerCall {
  /** Fires when the caller cancels or disconnects. */
  readonly signal: AbortSignal;
  readonly report: (step: string, measured?: Measured) => void;
  /** Whether to wait for a start for as long as it takes. Default: as long as clients wait for an answer. */
  readonly waitsForStart?: boolean;
}

export interface RunningServer {
  listTools(call: Pick<ServerCall, "signal">, timeoutSeconds: number): Promise<Tool[]>;
  /** Resolves with the tool's result, even if the tool failed. Each report of progress restarts the time limit. */
  callTool(
    tool: string,
    args: Readonly<Record<string, unknown>>,
    call: ServerCall,
    timeoutSeconds: number,
  ): Promise<CallToolResult>;
  readResource(uri: string, call: Pick<ServerCall, "signal">): Promise<ReadResourceResult>;
  /** Moves the deadline of the server's sandbox to `seconds` from now. */
  extend(seconds: number): Promise<void>;
  /** Deletes the sandbox. */
  close(): Promise<void>;
}

/** Callbacks for the events of a server's life, and the signal that ends its start. */
export interface ServerEvents {
  /** Called with each step of the start. */
  readonly onStep: (step: string) => void;
  /** The server has ended by itself. */
  readonly onEnd: () => void;
  /** The server reports that its list of tools has changed. */
  readonly onToolsChange: () => void;
  /** Ends the start. */
  readonly signal: AbortSignal;
}
