import type { IsolatedExecutionStep } from "cloud-sandbox";
import * as z from "zod";
import { runs } from "../annotations.js";
import { executionOutput, executionResult } from "../execution-result.js";
import {
  code,
  executionTimeout,
  language,
  region,
  runEnvironment,
  sandboxReference,
  templateName,
  workingDirectory,
} from "../input-fields.js";
import { sandboxTool, tool } from "../tool.js";

export const executeCodeIsolated = tool({
  name: "execute_code_isolated",
  title: "Run code in a sandbox of its own",
  description:
    "Runs one program in a fresh sandbox and deletes the sandbox. Best for a single program; for several steps use create_sandbox. Returns stdout, stderr and exit_code.",
  toolset: "code",
  annotations: { ...runs, destructiveHint: false },
  input: z.object({
    code,
    language,
    timeout: executionTimeout,
    env: runEnvironment,
    template_name: templateName.default("code-interpreter"),
    region,
  }),
  output: executionOutput.extend({ isolation: z.string().optional().describe("What stood around the code") }),
  handler: async ({
    client,
    code,
    language,
    timeout,
    env,
    template_name: template,
    region,
    signal,
    report,
  }) => {
    const onStep = (step: IsolatedExecutionStep): void => report(stepsInWords[step]);
    const run = await client.executeIsolated(code, {
      language,
      timeout,
      env,
      template,
      region,
      signal,
      onStep,
    });
    const place = { sandboxId: run.sandboxId, kept: false, leftBehind: run.cleanupError !== undefined };
    return { ...executionResult(run, place), isolation: run.isolation };
  },
});

const stepsInWords: Readonly<Record<IsolatedExecutionStep, string>> = {
  create: "Creating a sandbox",
  execute: "Running the code",
  delete: "Deleting the sandbox",
};

export const executeCode = sandboxTool({
  name: "execute_code",
  title: "Run code in a sandbox",
  description:
    "Runs code in an existing sandbox. Files stay for later calls, and so do variables of Python and JavaScript.",
  toolset: "code",
  annotations: runs,
  input: z.object({
    ...sandboxReference,
    code,
    language,
    timeout: executionTimeout,
    env: runEnvironment,
    working_dir: workingDirectory,
  }),
  output: executionOutput,
  handler: async ({ sandbox, code, language, timeout, env, working_dir: workdir, signal }) => {
    const run = await sandbox.execute(code, { language, timeout, env, workdir, signal });
    return executionResult(run, { sandboxId: sandbox.id, kept: true });
  },
});
