/** Registers a tool with the SDK: its entry in the list, its progress, its result and its failures. */
import type {
  CallToolResult,
  McpServer,
  RegisteredTool,
  ServerContext,
  StandardSchemaWithJSON,
  ToolAnnotations,
} from "@modelcontextprotocol/server";
import { type Answer, compactText, originOf } from "../results/answer.js";
import { cutMiddle } from "../results/output-limit.js";
import type { LogMessage, Measured } from "../servers/running-server.js";
import type { Profile } from "../session/profile.js";
import type { Session } from "../session/session.js";
import type { AskUser } from "../tools/definition/asked-hosts.js";
import type { ToolContext } from "../tools/definition/tool.js";
import { askConsent, ConsentNeeded } from "./consent.js";

/** A tool as clients list it. */
export interface ToolEntry {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly annotations: ToolAnnotations;
  readonly inputSchema: () => Record<string, unknown>;
  readonly outputSchema?: (() => Record<string, unknown>) | undefined;
  readonly _meta?: Record<string, unknown> | undefined;
  /** Whether the tool is another MCP server's, which measures its own progress. */
  readonly isRelayed: boolean;
}

/** The parts that all tools of a client share. */
export interface SharedToolParts {
  readonly profile: Profile;
  readonly log: (line: string) => void;
  readonly session: Session;
  /** Names of the tools that the client is offered. */
  readonly offered: ReadonlySet<string>;
  /** Whether the operator of this server agrees to what its tools would ask the user. */
  readonly isConsentGiven: boolean;
}

export function registerTool(
  server: McpServer,
  tool: ToolEntry,
  run: (args: unknown, call: ToolContext) => Promise<Answer>,
  { log, offered, profile, session, isConsentGiven }: SharedToolParts,
): RegisteredTool {
  const { _meta, annotations, description, inputSchema, name, outputSchema, title } = tool;
  const entry = {
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    annotations,
    inputSchema: unchecked(inputSchema),
    ...(outputSchema !== undefined && { outputSchema: unchecked(outputSchema) }),
    ...(_meta !== undefined && { _meta }),
  };
  return server.registerTool(name, entry, async (args, context) => {
    const counted = progressOf(context);
    const progress = tool.isRelayed ? counted?.countLess() : counted;
    const report: ToolContext["report"] = (step, measured) => progress?.report(step, measured);
    const { signal } = context.mcpReq;
    const canAsk = server.server.getClientCapabilities()?.elicitation !== undefined;
    const askUser = canAsk ? askOver(context) : undefined;
    const consent: ToolContext["consent"] = (question, bound) =>
      askConsent(question, bound, context, { canAsk, isGranted: isConsentGiven });
    const relayed = tool.isRelayed && { log: relayedLog(context) };
    const own = { signal, report, offered, askUser, consent, ...relayed };
    const work = session.call((call) => run(args, call), own);
    return work
      .finally(() => progress?.end())
      .then(
        (answer) => success(tool, answer),
        async (error: unknown) =>
          error instanceof ConsentNeeded ? error.answer : failure(tool, error, profile, session, log),
      );
  });
}

/** Asks by elicitation. Clients of the protocol's later era, which have no requests of a server, cannot be asked in the middle of a call. */
function askOver({ mcpReq }: ServerContext): AskUser {
  return async (message, choices, signal) => {
    const decision = {
      type: "string" as const,
      title: "Decision",
      enum: Object.keys(choices),
      enumNames: Object.values(choices),
    };
    const requestedSchema = { type: "object" as const, properties: { decision }, required: ["decision"] };
    const { action, content } = await mcpReq.elicitInput({ message, requestedSchema }, { signal });
    const chosen = action === "accept" ? content?.decision : undefined;
    return typeof chosen === "string" ? chosen : undefined;
  };
}

function success(
  tool: ToolEntry,
  { structure, text = compactText(structure), attachments, whole }: Answer,
): CallToolResult {
  if (whole !== undefined) return whole;
  return {
    structuredContent: structure,
    content: [{ type: "text", text }, ...attachments],
    ...originOf(tool.annotations),
  };
}

async function failure(
  tool: ToolEntry,
  error: unknown,
  { advice }: Profile,
  { environment }: Session,
  log: (line: string) => void,
): Promise<CallToolResult> {
  // Import this module only here: it loads the client library, which would slow down the server's start.
  const { explainFailure, unforeseen } = await import("../errors/tool-failure.js");
  const explained = explainFailure(error, advice, environment);
  if (explained === undefined)
    log(`${tool.name} failed: ${error instanceof Error ? error.message : "unknown"}`);
  return {
    isError: true,
    content: [{ type: "text", text: explained ?? unforeseen }],
    ...originOf(tool.isRelayed ? { openWorldHint: true } : tool.annotations),
  };
}

/** A schema that the SDK lists and does not check: the tool checks arguments itself, with messages that say what to do. */
function unchecked(json: () => Record<string, unknown>): StandardSchemaWithJSON {
  return {
    "~standard": {
      version: 1,
      vendor: "cloud-sandbox",
      validate: (value) => ({ value }),
      jsonSchema: { input: json, output: json },
    },
  };
}

/** Milliseconds between two reports of another MCP server that are passed on. What comes in between is told with the next one. */
const leastBetween = 50;
/** Milliseconds between reports while nothing new happens: clients wait longer for a call that reports progress. */
const usualHeartbeat = 5_000;

type Send = (progress: number, message: string, total?: number) => void;

/**
 * Progress that a step without a measure adds. Small, because progress must not decrease: so the measured progress of a
 * later step can be sent unchanged.
 */
const smallStep = 0.001;

export class Progress {
  readonly #notify: Send;
  readonly #startedAt = performance.now();
  readonly #timer: NodeJS.Timeout;
  #count = 0;
  #total: number | undefined;
  #unit = 1;
  #step = "Working";
  #relayedAt = Number.NEGATIVE_INFINITY;

  constructor(notify: Send, heartbeat = usualHeartbeat) {
    this.#notify = notify;
    this.#timer = setInterval(() => this.#beat(), heartbeat).unref();
  }

  /** Reports the current step, and its progress if another MCP server has measured it. */
  report(step: string, measured?: Measured): void {
    this.#step = step;
    const now = performance.now();
    if (measured !== undefined && now - this.#relayedAt < leastBetween) return;
    if (measured !== undefined) this.#relayedAt = now;
    if (measured !== undefined) {
      this.#unit = smallStep;
      this.#total = measured.total;
    }
    this.#send(step, measured?.progress);
    this.#timer.refresh();
  }

  /** From now on, each step adds only {@link smallStep}. */
  countLess(): this {
    this.#unit = smallStep;
    return this;
  }

  /** Stops the reports: none may follow the answer of the call. */
  end(): void {
    clearInterval(this.#timer);
  }

  #beat(): void {
    const seconds = Math.round((performance.now() - this.#startedAt) / 1000);
    this.#send(`${this.#step} (${seconds} s since the call)`);
  }

  /** Sends a report. Each one adds to the count, because the number of steps is unknown and progress must increase. */
  #send(message: string, measured = 0): void {
    this.#count = Math.max(this.#count + this.#unit, measured);
    this.#notify(this.#count, message, this.#total);
  }
}

/** The progress of one call. Undefined when its caller did not ask for it. */
export function progressOf({ mcpReq }: ServerContext): Progress | undefined {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  return new Progress((progress, message, total) => {
    const params = { progressToken, progress, message, ...(total !== undefined && { total }) };
    // Ignore an error: the caller may have disconnected, and the work must not fail because of that.
    mcpReq.notify({ method: "notifications/progress", params }).catch(() => undefined);
  });
}

/** Log messages of one call, and bytes of one message: a server may send any number. */
const mostMessages = 500;
const mostBytes = 10_000;

/** Sends the log messages of another MCP server to the client that made the call, if it asked for messages of their level. */
function relayedLog({ mcpReq }: ServerContext): (message: LogMessage) => void {
  let count = 0;
  return ({ data, level, logger }) => {
    count += 1;
    if (count > mostMessages + 1) return;
    const sent =
      count > mostMessages
        ? mcpReq.log("warning", "Further messages are left out.")
        : mcpReq.log(level, shown(data), logger);
    // Ignore an error: the client may have disconnected, and the call must not fail because of that.
    sent.catch(() => undefined);
  };
}

function shown(data: unknown): unknown {
  const text = typeof data === "string" ? data : (JSON.stringify(data) ?? "");
  const { text: cut } = cutMiddle(text, mostBytes);
  return cut === text ? data : cut;
}
