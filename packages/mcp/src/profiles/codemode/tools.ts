import { posix } from "node:path";
import type { CommandResult, Sandbox, SandboxLimits } from "cloud-sandbox";
import * as z from "zod";
import { InvalidArgumentsError } from "../../errors/errors.js";
import { type Answer, textAnswer, textOutput } from "../../results/answer.js";
import { limitCharacters } from "../../results/output-limit.js";
import type { Environment } from "../../settings.js";
import { fileContent } from "../../tools/definition/input-fields.js";
import {
  destructive,
  executing,
  readOnlyInside,
  type Tool,
  type ToolContext,
  tool,
} from "../../tools/definition/tool.js";
import { codemodeSettings, sandboxLimits } from "./settings.js";

const workspace = "/workspace";

/** For each language, the command that runs a program given as text. */
const programs = {
  python: ["python3", "-c"],
  bash: ["bash", "-c"],
  sh: ["sh", "-c"],
  node: ["node", "-e"],
  javascript: ["node", "-e"],
} as const;
const languages = ["python", "bash", "sh", "node", "javascript"] as const;

/** The most bytes that Linux accepts as one argument of a program. */
const longestCode = 128 * 1024 - 1;

const executeCode = tool({
  name: "execute_code",
  title: "Run code",
  description:
    "Runs a program in a sandbox without network, in a process of its own. Files in /workspace stay for later calls. Returns stdout, stderr and the exit code. The sandbox is deleted 60 minutes after its last use.",
  toolset: "code",
  annotations: executing,
  input: z.object({
    code: z
      .string("must be text")
      .min(1, "must not be empty")
      .refine(
        (text) => Buffer.byteLength(text) <= longestCode,
        "must be shorter than 128 KiB: put its data into files with sandbox_write_file",
      )
      .describe("The program"),
    language: z.enum(languages).default("python").describe("Language of code"),
  }),
  output: textOutput,
  handler: async ({ code, language, ...context }) => {
    const { EXEC_TIMEOUT: timeout, MAX_OUTPUT_SIZE: most } = codemodeSettings(context.environment);
    const { signal } = context;
    return inSandbox(context, async (sandbox) => {
      const run = await sandbox.commands.run([...programs[language], code], {
        timeoutSeconds: timeout,
        signal,
      });
      return programText(run, timeout, most);
    });
  },
});

/** Formats a result as text in the same form as the original server, without empty parts. */
function programText(run: CommandResult, timeout: number, most: number): string {
  const isTimeout = run.terminationReason === "timeout";
  const ending = isTimeout ? `Execution timed out after ${timeout} seconds\n` : "";
  const stderr = run.stderr + ending;
  const isCut = run.output.stdout.truncated || run.output.stderr.truncated;
  const parts = [
    run.stdout !== "" && `[stdout]\n${limitCharacters(run.stdout, most)}`,
    stderr !== "" && `[stderr]\n${limitCharacters(stderr, most)}`,
    `[exit_code] ${isTimeout ? -1 : run.exitCode}`,
    (isCut || run.stdout.length > most || stderr.length > most) &&
      "[note] Output was cut in the middle: print less, or write it to a file and read parts of it.",
  ];
  return parts.filter((part) => part !== false).join("\n");
}

const readFile = tool({
  name: "sandbox_read_file",
  title: "Read a file",
  description: "Reads a text file of the sandbox's /workspace.",
  toolset: "files",
  annotations: readOnlyInside,
  input: z.object({ path: pathInput("File") }),
  output: textOutput,
  handler: async ({ path, ...context }) => {
    const { MAX_OUTPUT_SIZE: most } = codemodeSettings(context.environment);
    const { signal } = context;
    const file = inWorkspace(path);
    return inSandbox(context, async (sandbox) =>
      limitCharacters(await sandbox.files.readText(file, { signal }), most),
    );
  },
});

const writeFile = tool({
  name: "sandbox_write_file",
  title: "Write a file",
  description:
    "Writes a text file in the sandbox's /workspace, replacing what is there; parent directories are created.",
  toolset: "files",
  annotations: destructive,
  input: z.object({ path: pathInput("File"), content: fileContent }),
  output: textOutput,
  handler: async ({ path, content, ...context }) => {
    const { signal } = context;
    const file = inWorkspace(path);
    return inSandbox(context, async (sandbox) => {
      const written = await sandbox.files.write(file, content, { signal });
      return `Wrote ${written.size} bytes to ${written.path}`;
    });
  },
});

const listFiles = tool({
  name: "sandbox_list_files",
  title: "List a directory",
  description: "Lists a directory of the sandbox's /workspace, as ls -la does.",
  toolset: "files",
  annotations: readOnlyInside,
  input: z.object({ path: pathInput("Directory").default(workspace) }),
  output: textOutput,
  handler: async ({ path, ...context }) => {
    const { MAX_OUTPUT_SIZE: most } = codemodeSettings(context.environment);
    const { signal } = context;
    const directory = inWorkspace(path);
    return inSandbox(context, async (sandbox) => {
      const listing = await sandbox.commands.run(["ls", "-la", "--", directory], { signal });
      if (listing.success) return limitCharacters(listing.stdout, most);
      throw new InvalidArgumentsError(
        `${path} cannot be listed: ${listing.stderr.trim().slice(0, 500)}. sandbox_list_files without a path shows what is there.`,
      );
    });
  },
});

function pathInput(what: string): z.ZodString {
  return z
    .string("must be text")
    .min(1, "must not be empty")
    .describe(`${what}, relative to /workspace or absolute inside it`);
}

/** Makes a path absolute. Throws if it leads out of the workspace. */
function inWorkspace(path: string): string {
  const resolved = posix.resolve(workspace, path);
  if (resolved === workspace || resolved.startsWith(`${workspace}/`)) return resolved;
  throw new InvalidArgumentsError(
    `path ${path.slice(0, 200)} is outside of ${workspace}. Give one relative to ${workspace}, or absolute inside it.`,
  );
}

export const tools: readonly Tool[] = [executeCode, readFile, writeFile, listFiles];

/** The name of the client's only sandbox. Clients never see it. */
const name = "codemode";

/**
 * Runs `work` in the client's sandbox, which the first call creates. The text of that call also says, once, how the
 * sandbox differs from SANDBOX_IMAGE.
 */
export async function inSandbox(
  context: ToolContext,
  work: (sandbox: Sandbox) => Promise<string>,
): Promise<Answer<{ result: string }>> {
  const { client, environment, report, sandboxes } = context;
  const notes: string[] = [];
  const sandbox = await sandboxes.getOrCreate(name, async () => {
    report("Creating a sandbox");
    const { template, differences } = await client.templates.forImage(
      codemodeSettings(environment).SANDBOX_IMAGE,
    );
    notes.push(...differences.map((difference) => `[note] ${difference}`));
    return sandboxes.createLeased({ template, internetAccess: false, limits: requestedLimits(environment) });
  });
  const text = await sandboxes.use(sandbox, work);
  return textAnswer([text, ...notes].join("\n"));
}

/**
 * The limits for the sandbox. Undefined if the user set none: a service with its own limits would refuse mcp-codemode's
 * defaults.
 */
function requestedLimits(environment: Environment): SandboxLimits | undefined {
  const isSet = ["CONTAINER_MEMORY_LIMIT", "CONTAINER_CPU_LIMIT"].some(
    (name) => (environment[name]?.trim() ?? "") !== "",
  );
  return isSet ? sandboxLimits(environment) : undefined;
}
