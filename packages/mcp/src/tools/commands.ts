import * as z from "zod";
import { looks, runs } from "../annotations.js";
import { executionOutput, executionResult } from "../execution-result.js";
import {
  executionTimeout,
  maxResults,
  runEnvironment,
  sandboxReference,
  workingDirectory,
} from "../input-fields.js";
import { firstEntries } from "../output-limit.js";
import { sandboxTool } from "../tool.js";
import { wireNames } from "../wire-names.js";

export const runCommand = sandboxTool({
  name: "run_command",
  title: "Run a shell command",
  description: "Runs a bash command line (pipes, redirections, &&) in a sandbox and waits for its end.",
  toolset: "commands",
  annotations: runs,
  input: z.object({
    ...sandboxReference,
    command: z.string("must be text").trim().min(1, "must not be empty").describe("Command line"),
    timeout: executionTimeout,
    working_dir: workingDirectory,
    env: runEnvironment,
  }),
  output: executionOutput,
  handler: async ({ sandbox, command, timeout, env, working_dir: workdir, signal }) => {
    const run = await sandbox.commands.run(command, { timeout, env, workdir, signal });
    return executionResult(run, { sandboxId: sandbox.id, kept: true });
  },
});

export const listProcesses = sandboxTool({
  name: "list_processes",
  title: "List processes",
  description: "Lists all processes that run in a sandbox, with CPU and memory use.",
  toolset: "commands",
  annotations: looks,
  input: z.object({ ...sandboxReference, max_results: maxResults(200, 10_000) }),
  output: z.looseObject({
    processes: z.array(z.looseObject({ pid: z.number() })).describe("memory_mb is resident memory"),
    count: z.number(),
    total_processes: z.number(),
    truncated: z.boolean(),
  }),
  handler: async ({ sandbox, max_results, signal }) => {
    const all = await sandbox.system.processes({ signal });
    const { items, truncated } = firstEntries(
      all.map((process) => ({ ...wireNames(process), pid: process.pid })),
      max_results,
    );
    return { processes: items, count: items.length, total_processes: all.length, truncated };
  },
});
