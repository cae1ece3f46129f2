import { limits } from "@cloud-sandbox/server-kit/limits";
import * as z from "zod";
import { wireNames } from "../results/answer.js";
import { executionOutput, executionResult } from "../results/execution-result.js";
import { entryLimit, firstEntries } from "../results/output-limit.js";
import { startedOutput } from "./background.js";
import {
  backgroundTimeout,
  command,
  executionTimeout,
  jobName,
  maxResults,
  runEnvironment,
  sandboxReference,
  workingDirectory,
} from "./definition/input-fields.js";
import { executing, readOnlyInside, sandboxTool, type Tool } from "./definition/tool.js";
import { detachAfterSeconds, detached, runningReport } from "./detached.js";

const runCommand = sandboxTool({
  name: "run_command",
  title: "Run a shell command",
  description:
    "Runs a bash command line (pipes, redirections, &&) in a sandbox and waits for its end; after 45 s the call returns and the command goes on, as with execute_code.",
  toolset: "commands",
  annotations: executing,
  input: z.object({
    ...sandboxReference,
    command,
    timeout: executionTimeout,
    working_dir: workingDirectory,
    env: runEnvironment,
  }),
  output: executionOutput,
  handler: async ({ sandbox, command, timeout, env, working_dir: workdir, ...context }) => {
    const { signal, report } = context;
    const outcome = await sandbox.commands.run(command, {
      timeoutSeconds: timeout,
      env,
      workdir,
      signal,
      detachAfterSeconds: detachAfterSeconds(context),
      onProgress: runningReport(report),
    });
    const facts = { sandboxId: sandbox.id, kept: true, longer: "run_command_background" };
    if ("stdout" in outcome) return executionResult(outcome, facts);
    return detached(sandbox, outcome, context);
  },
});

const runCommandBackground = sandboxTool({
  name: "run_command_background",
  title: "Start a shell command in the background",
  description: "Starts a bash command line, such as a server, and returns its process_id at once.",
  toolset: "commands",
  annotations: executing,
  input: z.object({
    ...sandboxReference,
    command,
    timeout: backgroundTimeout(limits.backgroundDefaultSeconds),
    working_dir: workingDirectory,
    env: runEnvironment,
    name: jobName,
  }),
  output: startedOutput,
  handler: async ({ sandbox, command, timeout, env, working_dir: workdir, name, signal }) => {
    const { id } = await sandbox.commands.runBackground(command, {
      timeoutSeconds: timeout,
      env,
      workdir,
      name,
      signal,
    });
    return { process_id: id, status: "running", name, sandbox_id: sandbox.id };
  },
});

const mostListed = 10_000;

const listProcesses = sandboxTool({
  name: "list_processes",
  title: "List processes",
  description: "Lists all processes that run in a sandbox, with CPU and memory use.",
  toolset: "commands",
  annotations: readOnlyInside,
  input: z.object({ ...sandboxReference, max_results: maxResults(200, mostListed) }),
  output: z.looseObject({
    processes: z.array(z.looseObject({ pid: z.number() })),
    count: z.number(),
    total_processes: z.number(),
    truncated: z.boolean(),
    note: z.string().optional(),
  }),
  handler: async ({ sandbox, max_results, signal }) => {
    const { limit, note } = entryLimit(max_results, mostListed);
    const all = await sandbox.system.processes({ signal });
    const { items, truncated } = firstEntries(
      all.map((process) => ({ ...wireNames(process), pid: process.pid })),
      limit,
    );
    return { processes: items, count: items.length, total_processes: all.length, truncated, note };
  },
});

export const commandTools: readonly Tool[] = [runCommand, runCommandBackground, listProcesses];
