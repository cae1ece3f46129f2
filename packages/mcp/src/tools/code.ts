import type { IsolatedExecutionStep, Sandbox } from "cloud-sandbox";
import * as z from "zod";
import { runs } from "../annotations.js";
import { InvalidArgumentsError } from "../arguments.js";
import { executionOutput, executionResult } from "../execution-result.js";
import { handedOver, patience, runningReport } from "../hand-over.js";
import {
  code,
  executionTimeout,
  internetAccess,
  jobName,
  language,
  optionalTimeout,
  region,
  runEnvironment,
  sandboxReference,
  templateName,
  workingDirectory,
} from "../input-fields.js";
import { sandboxTool, type ToolContext, tool } from "../tool.js";
import { startCode } from "./background.js";

interface Program {
  readonly code: string;
  readonly language: string;
  readonly timeout: number;
  readonly env?: Record<string, string> | undefined;
}

interface IsolatedProgram extends Program {
  readonly template_name: string;
  readonly region?: string | undefined;
  readonly internet_access?: boolean | undefined;
  readonly working_dir?: string | undefined;
}

async function runIsolated({
  client,
  sandboxes,
  environment,
  offered,
  signal,
  report,
  ...program
}: IsolatedProgram & ToolContext) {
  const { code, language, timeout, env, region } = program;
  const { template_name: template, working_dir: workdir, internet_access } = program;
  const outcome = await client.executeIsolatedOrHandOver(code, {
    language,
    timeout,
    env,
    workdir,
    template,
    region,
    internetAccess: internet_access,
    signal,
    handOverAfter: patience({ environment, offered }),
    onStep: (step) => report(stepsInWords[step]),
    onProgress: runningReport(report),
  });
  if ("execution" in outcome) {
    sandboxes.adopt(outcome.sandbox);
    const then = offered.has("delete_sandbox") ? "Then delete its sandbox with delete_sandbox." : "";
    return handedOver(outcome.sandbox, outcome.execution, { signal, offered }, then);
  }
  const leftBehind = outcome.cleanupError !== undefined;
  const facts = { isolation: outcome.isolation };
  return executionResult(outcome, { sandboxId: outcome.sandboxId, kept: false, leftBehind, facts });
}

const stepsInWords: Readonly<Record<IsolatedExecutionStep, string>> = {
  create: "Creating a sandbox",
  execute: "Running the code",
  delete: "Deleting the sandbox",
};

export const executeCodeIsolated = tool({
  name: "execute_code_isolated",
  title: "Run code in a sandbox of its own",
  description:
    "Runs one program in a fresh sandbox and deletes the sandbox. Best for a single program; for several steps use create_sandbox. Returns stdout, stderr, exit_code, and plots as images.",
  toolset: "code",
  annotations: { ...runs, destructiveHint: false },
  input: z.object({
    code,
    language,
    timeout: executionTimeout,
    env: runEnvironment,
    template_name: templateName.default("code-interpreter"),
    region,
    internet_access: internetAccess,
  }),
  output: executionOutput.extend({ isolation: z.string().optional().describe("What stood around the code") }),
  handler: runIsolated,
});

interface PlacedProgram extends Program {
  readonly sandbox: Sandbox;
  readonly working_dir: string;
  /** Whether displayed tables and other texts are shown. */
  readonly texts: boolean;
}

async function runInSandbox({ sandbox, code, working_dir, texts, ...call }: PlacedProgram & ToolContext) {
  const { language, timeout, env, environment, offered, signal, report } = call;
  const outcome = await sandbox.executeOrHandOver(code, {
    language,
    timeout,
    env,
    workdir: working_dir,
    signal,
    handOverAfter: patience({ environment, offered }),
    onProgress: runningReport(report),
  });
  if ("richOutputs" in outcome) return executionResult(outcome, { sandboxId: sandbox.id, kept: true, texts });
  return handedOver(sandbox, outcome, { signal, offered });
}

const modes = ["persistent", "rich", "isolated", "background"] as const;
/** Seconds, where the mode decides. */
const usualTimeout = 30;
const usualBackgroundTimeout = 300;
const longestTimeout = 300;

export const executeCode = tool({
  name: "execute_code",
  title: "Run code",
  description:
    "Runs code in a sandbox: files stay for later calls, and so do variables of Python and JavaScript. Without a sandbox it runs as execute_code_isolated does. After 45 s it is handed over: status running and a process_id for execute_process_output.",
  toolset: "code",
  annotations: runs,
  input: z.object({
    ...sandboxReference,
    code,
    language,
    mode: z
      .enum(modes, `must be one of ${modes.join(", ")}`)
      .optional()
      .describe("Default: persistent in a sandbox, else isolated. rich shows tables too"),
    timeout: optionalTimeout.describe(
      "Seconds, 1-300, default 30; in mode background up to 86400, default 300",
    ),
    env: runEnvironment,
    working_dir: workingDirectory,
    name: jobName,
    template_name: templateName.default("code-interpreter").describe("Of mode isolated"),
    region,
    internet_access: internetAccess.describe("Of mode isolated"),
  }),
  output: executionOutput.extend({ stdout: z.string().optional(), stderr: z.string().optional() }),
  handler: async ({ mode: wanted, ...call }) => {
    const isPlaced = call.sandbox_id !== undefined || call.vm_url !== undefined;
    const mode = wanted ?? (isPlaced ? "persistent" : "isolated");
    if (mode === "isolated" && isPlaced)
      throw new InvalidArgumentsError(
        "mode isolated makes a sandbox of its own: leave out sandbox_id and vm_url, or the mode.",
      );
    const timeout = call.timeout ?? (mode === "background" ? usualBackgroundTimeout : usualTimeout);
    if (mode !== "background" && timeout > longestTimeout)
      throw new InvalidArgumentsError(
        `timeout must be a whole number of 1 to ${longestTimeout} seconds; mode background allows more.`,
      );
    if (mode === "isolated") return runIsolated({ ...call, timeout });
    const sandbox = await call.sandboxes.find(call, call.signal);
    if (mode === "background") return startCode({ ...call, sandbox, timeout });
    return runInSandbox({ ...call, sandbox, timeout, texts: mode === "rich" });
  },
});

export const executeCodeRich = sandboxTool({
  name: "execute_code_rich",
  title: "Run code and show what it displays",
  description: "As execute_code, and returns all that the code displays: plots as images, tables as HTML.",
  toolset: "code",
  annotations: runs,
  input: z.object({
    ...sandboxReference,
    code,
    language,
    timeout: executionTimeout,
    env: runEnvironment,
    working_dir: workingDirectory,
    capture_rich: z.boolean("must be true or false").default(true).describe("false: images only"),
  }),
  output: executionOutput,
  handler: ({ capture_rich, ...call }) => runInSandbox({ ...call, texts: capture_rich }),
});
