/** A tool is data: what the model reads, the shape of what goes in and out, and a handler of a few lines. */
import type { Sandbox, SandboxClient } from "cloud-sandbox";
import type * as z from "zod";
import type { IsolatedRuns } from "../../ownership/isolated-runs.js";
import type { NamedSandboxes } from "../../ownership/named-sandboxes.js";
import type { SandboxDirectory } from "../../ownership/sandbox-directory.js";
import { Answer } from "../../results/answer.js";
import type { Environment } from "../../settings/environment.js";
import { readArguments } from "./arguments.js";
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
] as const;
export type Toolset = (typeof toolsets)[number];

/** All four hints: a client assumes the worst of each that is absent. */
export interface Annotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/** What every handler is given beside its arguments. */
export interface ToolContext {
  readonly client: SandboxClient;
  readonly sandboxes: SandboxDirectory;
  /** What the client of this server calls by name. */
  readonly named: NamedSandboxes;
  /** Where runs in sandboxes of their own wait for their turn. */
  readonly runs: IsolatedRuns;
  /** The server's own environment variables, for settings of a profile. */
  readonly environment: Environment;
  /** The names of the tools that are there for the caller. */
  readonly offered: ReadonlySet<string>;
  /** Fires when the caller cancels, or leaves. */
  readonly signal: AbortSignal;
  /** Tells a caller that asked for progress what happens now. */
  readonly report: (step: string) => void;
}

export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly toolset: Toolset;
  readonly annotations: Annotations;
  readonly input: z.ZodObject;
  /** Always a `z.looseObject`: clients refuse a key that a closed schema does not name. */
  readonly output: z.ZodObject;
  /** Checks the arguments and does the work. */
  run(given: unknown, context: ToolContext): Promise<Answer>;
}

interface Definition<Input extends z.ZodObject, Output extends z.ZodObject, Context>
  extends Omit<Tool, "run" | "input" | "output"> {
  readonly input: Input;
  readonly output: Output;
  /** Gives the structure, or an {@link Answer} where that is not all. */
  readonly handler: (call: z.output<Input> & Context) => Promise<z.input<Output> | Answer<z.input<Output>>>;
}

/** A tool that works on the account: its sandboxes, its templates, a run of its own. */
export function tool<Input extends z.ZodObject, Output extends z.ZodObject>({
  handler,
  ...definition
}: Definition<Input, Output, ToolContext>): Tool {
  return {
    ...definition,
    run: async (given, context) => {
      const input = readArguments(definition, given);
      if ("id" in input && typeof input.id === "string") context.sandboxes.requireOwn(input.id);
      return answerOf(await handler({ ...input, ...context }));
    },
  };
}

/** A tool that works in one sandbox: its input begins with the fields that say which. */
export function sandboxTool<Input extends z.ZodObject<SandboxReference>, Output extends z.ZodObject>({
  handler,
  ...definition
}: Definition<Input, Output, ToolContext & { readonly sandbox: Sandbox }>): Tool {
  return {
    ...definition,
    run: async (given, context) => {
      const input = readArguments(definition, given);
      const sandbox = await context.sandboxes.find(input, context.signal);
      return answerOf(await handler({ ...input, ...context, sandbox }));
    },
  };
}

function answerOf(given: Record<string, unknown> | Answer): Answer {
  return given instanceof Answer ? given : new Answer(given);
}
