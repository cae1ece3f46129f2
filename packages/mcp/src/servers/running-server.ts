/** A server that runs: what the rest of this program uses of it. */
import type {
  CallToolResult,
  LoggingLevel,
  Prompt,
  RequestTypeMap,
  Resource,
  ResourceTemplateType,
  ResultTypeMap,
  Tool,
} from "@modelcontextprotocol/server";

/** The progress of a call, as the server reports it. */
export interface Measured {
  readonly progress: number;
  readonly total?: number | undefined;
}

/** A log message of a server. */
export interface LogMessage {
  readonly level: LoggingLevel;
  readonly data: unknown;
  readonly logger?: string | undefined;
}

/** What a server lists beside its tools. */
export interface OtherLists {
  readonly prompts: readonly Prompt[];
  readonly resources: readonly Resource[];
  readonly resourceTemplates: readonly ResourceTemplateType[];
  /** Whether it completes the arguments of its prompts and resource templates. */
  readonly completes: boolean;
}

/** Requests that are passed on to a server as they are. */
export type RelayedMethod = "completion/complete" | "prompts/get" | "resources/read";
export type RelayedParams<Method extends RelayedMethod> = RequestTypeMap[Method]["params"];

/** The caller's part of a call to a server. */
export interface ServerCall {
  /** Fires when the caller cancels or disconnects. */
  readonly signal: AbortSignal;
  readonly report: (step: string, measured?: Measured) => void;
  /** Receives the log messages that the server sends during the call. */
  readonly log?: ((message: LogMessage) => void) | undefined;
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
  listOthers(call: Pick<ServerCall, "signal">): Promise<OtherLists>;
  relay<Method extends RelayedMethod>(
    method: Method,
    params: RelayedParams<Method>,
    call: Pick<ServerCall, "signal">,
  ): Promise<ResultTypeMap[Method]>;
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
  /** The server reports that its tools, prompts or resources have changed. */
  readonly onListChange: () => void;
  readonly onLog: (message: LogMessage) => void;
  /** Ends the start. */
  readonly signal: AbortSignal;
}
