import { limits } from "@cloud-sandbox/server-kit/limits";
import type { ExecutionResult } from "cloud-sandbox";
import * as z from "zod";
import { InvalidArgumentsError } from "../../errors/errors.js";
import { textAnswer, textOutput } from "../../results/answer.js";
import { bytesMissing, cutMiddle, resultBudget } from "../../results/output-limit.js";
import { sandboxSecrets } from "../../settings.js";
import {
  additive,
  destructive,
  executing,
  type Tool,
  type ToolContext,
  tool,
} from "../../tools/definition/tool.js";

/** The name of the client's only sandbox. Clients never see it. */
const name = "code-executer";

/** The longest run, in seconds. Code can start longer work in the background itself. */
const longestRun = limits.executionSeconds;

const startCodeExecuter = tool({
  name: "start_code_executer",
  title: "Start the code executer",
  description:
    "Starts a fresh Python environment in a sandbox, installs packages in it, and deletes the previous environment. The new one is deleted by stop_code_executer, or 60 minutes after its last use.",
  toolset: "sandboxes",
  annotations: { ...destructive, idempotentHint: false, openWorldHint: true },
  input: z.object({
    dependencies: z
      .array(
        z.string("must be text").regex(/^[A-Za-z0-9]/, "must be a package in pip's syntax"),
        "must be a list of package names",
      )
      .max(100, "must be at most 100 packages")
      .default([])
      .describe("Python packages to install, such as numpy or pandas>=2"),
  }),
  output: textOutput,
  handler: async ({ dependencies, ...context }) => {
    await context.sandboxes.replace(name, () => startWith(dependencies, context));
    const installed = dependencies.length === 0 ? "" : ` with ${dependencies.join(", ")}`;
    return textAnswer(`Code execution service started${installed}.`);
  },
});

async function startWith(dependencies: readonly string[], context: ToolContext) {
  const { client, environment, report, sandboxes, signal } = context;
  report("Creating a sandbox");
  const sandbox = await sandboxes.createLeased({ secrets: sandboxSecrets(environment), signal });
  if (dependencies.length === 0) return sandbox;
  try {
    report(`Installing ${dependencies.join(", ")}`);
    const indexUrl = environment.CLOUD_SANDBOX_PIP_INDEX_URL?.trim() || undefined;
    await sandbox.pythonPackages.install(dependencies, { indexUrl, onLine: report, signal });
    return sandbox;
  } catch (error) {
    // A sandbox that cannot be deleted now is deleted when the client leaves.
    await client.sandboxes.delete(sandbox.id).then(
      () => sandboxes.forget(sandbox.id),
      () => undefined,
    );
    throw error;
  }
}

const executeCode = tool({
  name: "execute_code",
  title: "Run Python",
  description:
    "Runs Python code in the environment that start_code_executer has started, and returns what it printed and the value of its last expression. Variables, imports and files stay for later calls.",
  toolset: "code",
  annotations: executing,
  input: z.object({ code: z.string("must be text").min(1, "must not be empty").describe("Python code") }),
  output: textOutput,
  handler: async ({ code, sandboxes, signal }) => {
    const run = await sandboxes.useNamed(name, (sandbox) =>
      sandbox.execute(code, { timeoutSeconds: longestRun, signal }),
    );
    if (run !== undefined) return textAnswer(outputText(run));
    throw new InvalidArgumentsError(
      "The code execution service is not running. Call start_code_executer first, with the packages that the code needs.",
    );
  },
});

/** The output, then the value of the last expression, or the error. */
function outputText({
  contextLost,
  output: extents,
  stderr,
  stdout,
  success,
  terminationReason,
  value,
}: ExecutionResult): string {
  const why = terminationReason === "timeout" ? `The code was stopped after ${longestRun} seconds.\n` : "";
  const lost = contextLost ? "The variables are gone; files are still there.\n" : "";
  const end = success ? (value ?? "") : `Error: ${why}${lost}${stderr}`;
  const output = stdout === "" || stdout.endsWith("\n") || end === "" ? stdout : `${stdout}\n`;
  const missing = bytesMissing(stdout, extents.stdout) + (success ? 0 : bytesMissing(stderr, extents.stderr));
  return cutMiddle(output + end, resultBudget, missing).text;
}

const stopCodeExecuter = tool({
  name: "stop_code_executer",
  title: "Stop the code executer",
  description: "Deletes the environment with its variables, packages and files.",
  toolset: "sandboxes",
  annotations: { ...additive, destructiveHint: true, idempotentHint: true },
  input: z.object({}),
  output: textOutput,
  handler: async ({ sandboxes }) => {
    const wasRunning = await sandboxes.end(name);
    return textAnswer(`Code execution service ${wasRunning ? "stopped" : "is not running"}.`);
  },
});

export const tools: readonly Tool[] = [startCodeExecuter, executeCode, stopCodeExecuter];
