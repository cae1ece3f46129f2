/** A tool is data: the texts that the model reads, the schemas of input and output, and a handler of a few lines. */

import type { Sandbox, SandboxClient } from "cloud-sandbox";
import type * as z from "zod";
import type { IsolatedRuns } from "../../ownership/isolated-runs.js";
import type { SandboxDirectory } from "../../ownership/sandbox-directory.js";
import { Answer } from "../../results/answer.js";
import type { ClientServers } from "../../servers/client-servers.js";
import type { LogMessage, Measured } from "../../servers/running-server.js";
import type { Environment } from "../../settings.js";
import { readArguments } from "./arguments.js";
import { type AskUser, whileAsking } from "./asked-hosts.js";
import type { SandboxReference } from "./input-fields.js";

/** Groups of tools, in the order in which they are listed. */
export const toolsets = [
  "code",
  "commands",
  "files",
  "env",
  "system",
  "sandboxes",
  "templates",
  "desktop",
  "changes",
  "snapshots",
  "compatibility",
  "mcp",
] as const;
export type Toolset = (typeof toolsets)[number];

/** All four hints are required: clients assume the worst for each that is absent. */
interface Annotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/** The context that every handler gets, beside its arguments. */
export interface ToolContext {
  readonly client: SandboxClient;
  readonly sandboxes: SandboxDirectory;
  /** The queue of runs in sandboxes of their own. */
  readonly runs: IsolatedRuns;
  /** Other people's MCP servers. Undefined if none may be used. */
  readonly servers: ClientServers | undefined;
  /** The server's own environment variables, for settings of a profile. */
  readonly environment: Environment;
  /** Names of the tools that the client is offered. */
  readonly offered: ReadonlySet<string>;
  /** Fires when the caller cancels or disconnects. */
  readonly signal: AbortSignal;
  /**
   * Resolves if the person who uses the client agrees to the question, for what is `bound` to the answer. Throws otherwise, and if the
   * client has yet to ask.
   */
  readonly consent: (question: string, bound: unknown) => Promise<void>;
  /** Reports progress, if the caller asked for it. `measured`: the progress that another MCP server reported. */
  readonly report: (step: string, measured?: Measured) => void;
  /** Undefined if the client cannot ask the person at it. */
  readonly askUser?: AskUser | undefined;
  /** Passes a log message of another MCP server on. */
  readonly log?: (message: LogMessage) => void;
}

export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly toolset: Toolset;
  readonly annotations: Annotations;
  readonly input: z.ZodObject;
  /**
   * The schema of the structured result. Always a `z.looseObject`: clients reject a key that a closed schema does not
   * name. Absent if the result is that of another MCP server's tool.
   */
  readonly output?: z.ZodObject;
  /** Checks the arguments and does the work. */
  run(args: unknown, context: ToolContext): Promise<Answer>;
}

interface Definition<Input extends z.ZodObject, Output extends z.ZodObject, Context>
  extends Omit<Tool, "run" | "input" | "output"> {
  readonly input: Input;
  readonly output: Output;
  /** Returns the structured result, or an {@link Answer} when the result has its own text, images or links. */
  readonly handler: (call: z.output<Input> & Context) => Promise<z.input<Output> | Answer<z.input<Output>>>;
}

/** A tool that needs no sandbox: it works on the account, or makes a sandbox itself. */
export function tool<Input extends z.ZodObject, Output extends z.ZodObject>({
  handler,
  ...definition
}: Definition<Input, Output, ToolContext>): Tool {
  return {
    ...definition,
    run: async (args, context) => {
      const input = readArguments(definition, args);
      if ("id" in input && typeof input.id === "string") await context.sandboxes.requireOwn(input.id);
      return answerOf(await handler({ ...input, ...context }));
    },
  };
}

/** A tool that works in one sandbox. Its input begins with the fields that name the sandbox. */
export function sandboxTool<Input extends z.ZodObject<SandboxReference>, Output extends z.ZodObject>({
  handler,
  ...definition
}: Definition<Input, Output, ToolContext & { readonly sandbox: Sandbox }>): Tool {
  return {
    ...definition,
    run: async (args, context) => {
      const input = readArguments(definition, args);
      const sandbox = await context.sandboxes.find(input, context.signal);
      return whileAsking(context, sandbox, async () =>
        answerOf(await handler({ ...input, ...context, sandbox })),
      );
    },
  };
}

function answerOf(value: Record<string, unknown> | Answer): Answer {
  return value instanceof Answer ? value : new Answer(value);
}

/** Annotations of a tool that changes nothing. */
export const readOnly: Annotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/**
 * Annotations of a tool that changes nothing, and returns what programs in a sandbox have written, whose author may be
 * anybody.
 */
export const readOnlyInside: Annotations = { ...readOnly, openWorldHint: true };

/** Annotations of a tool that adds something or changes its state, without losing anything. */
export const additive: Annotations = { ...readOnly, readOnlyHint: false, idempotentHint: false };

/** Annotations of an {@link additive} tool whose second call changes nothing more. */
export const idempotent: Annotations = { ...additive, idempotentHint: true };

/** Annotations of a tool that may replace or remove something; a second call changes nothing more. */
export const destructive: Annotations = { ...idempotent, destructiveHint: true };

/**
 * Annotations of a tool that runs code, which may change anything in the sandbox and reach the internet if that is on.
 */
export const executing: Annotations = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
};
