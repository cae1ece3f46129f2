import { limits } from "@cloud-sandbox/server-kit/limits";
import type { IsolatedExecutionStep, Sandbox } from "cloud-sandbox";
import * as z from "zod";
import { InvalidArgumentsError } from "../errors/errors.js";
import { executionOutput, executionResult } from "../results/execution-result.js";
import { startCode } from "./background.js";
import {
  code,
  executionTimeout,
  internetAccess,
  jobName,
  language,
  optionalTimeout,
  programInSandbox,
  region,
  runEnvironment,
  sandboxReference,
  templateName,
  workingDirectory,
} from "./definition/input-fields.js";
import { executing, sandboxTool, type Tool, type ToolContext, tool } from "./definition/tool.js";
import { detachAfterSeconds, detached, runningReport } from "./detached.js";
import { secretsOf } from "./sandbox-creation.js";

interface Program {
  readonly code: string;
  readonly language: string;
  readonly timeout: number;
  readonly env?: Record<string, string> | undefined;
}

interface IsolatedProgram extends Program {
  /** A sentence that is added to the result's note. */
  readonly note?: string | undefined;
  readonly template_name: string;
  readonly region?: string | undefined;
  readonly internet_access?: boolean | undefined;
  readonly working_dir?: string | undefined;
}

async function runIsolated({
  client,
  sandboxes,
  runs,
  environment,
  offered,
  signal,
  report,
  ...program
}: IsolatedProgram & ToolContext) {
  const { code, language, timeout, env, region } = program;
  const { template_name: template, working_dir: workdir, internet_access } = program;
  const { note } = program;
  const run = (started: () => void) =>
    client.executeIsolated(code, {
      language,
      timeoutSeconds: timeout,
      env,
      workdir,
      template,
      region,
      internetAccess: internet_access,
      secrets: secretsOf(environment, { internet_access }),
      signal,
      detachAfterSeconds: detachAfterSeconds({ environment, offered }),
      onStep: (step) => {
        if (step !== "create") started();
        report(stepsInWords[step]);
      },
      onProgress: runningReport(report),
    });
  const outcome = await runs.run(run, hasNoRoom, { signal, report });
  if ("execution" in outcome) {
    sandboxes.adopt(outcome.sandbox);
    const deletion = offered.has("delete_sandbox") && "Then delete its sandbox with delete_sandbox.";
    const then = [deletion, note].filter(Boolean).join(" ");
    return detached(outcome.sandbox, outcome.execution, { signal, offered }, { mode: "isolated", then });
  }
  const leftBehind = outcome.cleanupError !== undefined;
  const facts = { mode: "isolated", isolation: outcome.isolation };
  return executionResult(outcome, { sandboxId: outcome.sandboxId, kept: false, leftBehind, facts, note });
}

/** Whether the service refused to make a sandbox because too many exist. */
function hasNoRoom(error: unknown): boolean {
  return error instanceof Error && ["ResourceLimitError", "RateLimitError"].includes(error.name);
}

const stepsInWords: Readonly<Record<IsolatedExecutionStep, string>> = {
  create: "Creating a sandbox",
  execute: "Running the code",
  delete: "Deleting the sandbox",
};

const executeCodeIsolated = tool({
  name: "execute_code_isolated",
  title: "Run code in a sandbox of its own",
  description:
    "Runs one program in a fresh sandbox and deletes the sandbox. Best for a single program; for several steps use create_sandbox. Returns stdout, stderr, exit_code, and plots as images.",
  toolset: "code",
  annotations: { ...executing, destructiveHint: false },
  input: z.object({
    code,
    language,
    timeout: executionTimeout,
    env: runEnvironment,
    template_name: templateName.default("code-interpreter"),
    region,
    internet_access: internetAccess,
  }),
  output: executionOutput.extend({
    isolation: z.string().optional(),
  }),
  handler: runIsolated,
});

interface SandboxProgram extends Program {
  readonly sandbox: Sandbox;
  readonly working_dir: string;
  /** Whether tables and other texts that the code displays are returned, not only images. */
  readonly texts: boolean;
}

async function runInSandbox({ sandbox, code, working_dir, texts, ...call }: SandboxProgram & ToolContext) {
  const { language, timeout, env, environment, offered, signal, report } = call;
  const outcome = await sandbox.execute(code, {
    language,
    timeoutSeconds: timeout,
    env,
    workdir: working_dir,
    signal,
    detachAfterSeconds: detachAfterSeconds({ environment, offered }),
    onProgress: runningReport(report),
  });
  const facts = { mode: texts ? "rich" : "persistent" };
  if ("richOutputs" in outcome)
    return executionResult(outcome, { sandboxId: sandbox.id, kept: true, texts, facts });
  return detached(sandbox, outcome, { signal, offered }, facts);
}

const modes = ["persistent", "rich", "isolated", "background"] as const;
/** Limits of time in seconds, which depend on the mode. */
const {
  backgroundDefaultSeconds: usualBackgroundTimeout,
  executionDefaultSeconds: usualTimeout,
  executionSeconds: longestTimeout,
} = limits;

const executeCode = tool({
  name: "execute_code",
  title: "Run code",
  description:
    "Runs code in a sandbox: files stay for later calls, and so do variables of Python and JavaScript. Without a sandbox it runs as execute_code_isolated does. After 45 s the call returns and the code goes on: read the rest with execute_process_output and the process_id.",
  toolset: "code",
  annotations: executing,
  input: z.object({
    ...sandboxReference,
    code,
    language,
    mode: z
      .enum(modes, `must be one of ${modes.join(", ")}`)
      .optional()
      .describe("Default: persistent in a sandbox, else isolated. rich shows tables too"),
    timeout: optionalTimeout.describe("Seconds, at most 300, default 30; default 300 in mode background"),
    env: runEnvironment,
    working_dir: workingDirectory,
    name: jobName,
    template_name: templateName.default("code-interpreter").describe("Of mode isolated"),
    region,
    internet_access: internetAccess.describe("Of mode isolated"),
  }),
  output: executionOutput.extend({ stdout: z.string().optional(), stderr: z.string().optional() }),
  handler: async ({ mode: wanted, ...call }) => {
    const namesSandbox = call.sandbox_id !== undefined || call.vm_url !== undefined;
    const mode = wanted ?? (namesSandbox ? "persistent" : "isolated");
    const timeout = call.timeout ?? (mode === "background" ? usualBackgroundTimeout : usualTimeout);
    if (mode !== "background" && timeout > longestTimeout)
      throw new InvalidArgumentsError(
        `timeout must be a whole number of 1 to ${longestTimeout} seconds; mode background allows more.`,
      );
    if (mode === "isolated")
      return runIsolated({ ...call, timeout, note: namesSandbox ? ownSandbox : undefined });
    const sandbox = await call.sandboxes.find(call, call.signal);
    if (mode === "background") return startCode({ ...call, sandbox, timeout });
    return runInSandbox({ ...call, sandbox, timeout, texts: mode === "rich" });
  },
});

const ownSandbox = "Mode isolated ran the code in a sandbox of its own, not in the given one.";

/** The tool that HOPX's own MCP server has for `execute_code` with mode `persistent`. */
export const executeCodePersistent = sandboxTool({
  name: "execute_code_persistent",
  title: "Run code, keeping variables",
  description: "The same as execute_code in a sandbox.",
  toolset: "compatibility",
  annotations: executing,
  input: z.object({
    ...programInSandbox(executionTimeout),
  }),
  output: executionOutput,
  handler: (call) => runInSandbox({ ...call, texts: false }),
});

const executeCodeRich = sandboxTool({
  name: "execute_code_rich",
  title: "Run code and show what it displays",
  description: "As execute_code, and returns all that the code displays: plots as images, tables as HTML.",
  toolset: "code",
  annotations: executing,
  input: z.object({
    ...programInSandbox(executionTimeout),
    capture_rich: z.boolean("must be true or false").default(true).describe("false: images only"),
  }),
  output: executionOutput,
  handler: ({ capture_rich, ...call }) => runInSandbox({ ...call, texts: capture_rich }),
});

export const codeTools: readonly Tool[] = [executeCodeIsolated, executeCode, executeCodeRich];
