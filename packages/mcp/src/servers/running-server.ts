/** A server that runs: what the rest of this program uses of it. */
import type { CallToolResult, ReadResourceResult, Tool } from "@modelcontextprotocol/server";

/** How far a call has got, as its server says. */
export interface Measured {
  readonly progress: number;
  readonly total?: number | undefined;
}

/** What a call of a server takes from its caller. */
export interface ServerCall {
  /** Fires when the caller cancels or disconnects. */
  readonly signal: AbortSignal;
  readonly report: (step: string, measured?: Measured) => void;
  /** Whether to wait for a start for as long as it takes. Default: as long as clients wait for an answer. */
  readonly waitsForStart?: boolean;
}

export interface RunningServer {
  listTools(call: Pick<ServerCall, "signal">, timeoutSeconds: number): Promise<Tool[]>;
  /** The tool's result, also one that says that the tool failed. Each report of progress starts the time anew. */
  callTool(
    tool: string,
    args: Readonly<Record<string, unknown>>,
    call: ServerCall,
    timeoutSeconds: number,
  ): Promise<CallToolResult>;
  readResource(uri: string, call: Pick<ServerCall, "signal">): Promise<ReadResourceResult>;
  /** Lets the sandbox live for this long from now on. */
  extend(seconds: number): Promise<void>;
  /** Deletes the sandbox. */
  close(): Promise<void>;
}

/** What a server tells while it starts and later. */
export interface ServerEvents {
  /** What the start does just now. */
  readonly onStep: (step: string) => void;
  /** The server has ended by itself. */
  readonly onEnd: () => void;
  /** The server says that its list of tools is another one now. */
  readonly onToolsChange: () => void;
  /** Ends the start. */
  readonly signal: AbortSignal;
}
