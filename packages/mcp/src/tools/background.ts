/** Background executions: starts them, lists them, reads their output and ends them. */
import { limits } from "@cloud-sandbox/server-kit/limits";
import type { Sandbox } from "cloud-sandbox";
import * as z from "zod";
import { entryLimit, firstEntries } from "../results/output-limit.js";
import { processOutput, readOutput } from "../results/process-output.js";
import {
  backgroundTimeout,
  code,
  jobName,
  language,
  maxResults,
  outputOffset,
  processId,
  programInSandbox,
  runEnvironment,
  sandboxReference,
  text,
  workingDirectory,
} from "./definition/input-fields.js";
import { destructive, executing, readOnlyInside, sandboxTool, type Tool } from "./definition/tool.js";
import { runningReport } from "./detached.js";

export const startedOutput = z.looseObject({
  process_id: z.string(),
  status: z.string(),
  sandbox_id: z.string(),
});

interface CodeToStart {
  readonly sandbox: Sandbox;
  readonly code: string;
  readonly language: string;
  readonly timeout: number;
  readonly env?: Record<string, string> | undefined;
  readonly working_dir: string;
  readonly name?: string | undefined;
  readonly signal: AbortSignal;
}

export async function startCode({ sandbox, code, working_dir: workdir, ...options }: CodeToStart) {
  const { language, timeout, env, name, signal } = options;
  const { id } = await sandbox.executeBackground(code, {
    language,
    timeoutSeconds: timeout,
    env,
    workdir,
    name,
    signal,
  });
  return { process_id: id, status: "running", mode: "background", name, sandbox_id: sandbox.id };
}

const executeCodeBackground = sandboxTool({
  name: "execute_code_background",
  title: "Start code in the background",
  description:
    "Starts code that takes minutes to hours and returns its process_id at once. It runs apart, without the variables of other runs.",
  toolset: "code",
  annotations: executing,
  input: z.object({
    ...programInSandbox(backgroundTimeout(limits.backgroundDefaultSeconds)),
    name: jobName,
  }),
  output: startedOutput,
  handler: startCode,
});

const executeCodeAsync = sandboxTool({
  name: "execute_code_async",
  title: "Start code that reports to a URL",
  description: "Starts code whose result is sent to callback_url by POST when it ends.",
  toolset: "code",
  annotations: executing,
  input: z.object({
    ...sandboxReference,
    code,
    callback_url: text.describe("http(s) URL"),
    language,
    timeout: backgroundTimeout(limits.asyncDefaultSeconds),
    env: runEnvironment,
    working_dir: workingDirectory,
    callback_headers: z
      .record(z.string(), z.string("must be text"), "must be an object of names and values")
      .optional()
      .describe("Headers of the POST"),
    callback_signature_secret: z.string("must be text").optional().describe("Signs the POST"),
  }),
  output: startedOutput.extend({ execution_id: z.string() }),
  handler: async ({ sandbox, code, callback_url, working_dir: workdir, signal, ...options }) => {
    const { language, timeout, env, callback_headers, callback_signature_secret } = options;
    const { id } = await sandbox.executeAsync(code, callback_url, {
      language,
      timeoutSeconds: timeout,
      env,
      workdir,
      callbackHeaders: callback_headers,
      callbackSecret: callback_signature_secret,
      signal,
    });
    return { execution_id: id, process_id: id, status: "queued", sandbox_id: sandbox.id };
  },
});

const mostListed = 1000;

const executeListProcesses = sandboxTool({
  name: "execute_list_processes",
  title: "List background executions",
  description: "Lists the background executions of a sandbox that run, and the last that ended.",
  toolset: "code",
  annotations: readOnlyInside,
  input: z.object({ ...sandboxReference, max_results: maxResults(100, mostListed) }),
  output: z.looseObject({
    processes: z.array(z.looseObject({ process_id: z.string(), status: z.string() })),
    count: z.number(),
    total_processes: z.number(),
    truncated: z.boolean(),
    note: z.string().optional(),
  }),
  handler: async ({ sandbox, max_results, signal }) => {
    const { limit, note } = entryLimit(max_results, mostListed);
    const all = await sandbox.processes.list({ signal });
    const listed = all.map(
      ({ id, status, name, language, startedAt, endedAt, exitCode, durationSeconds: duration }) => ({
        process_id: id,
        status,
        name,
        language,
        start_time: startedAt?.toISOString(),
        end_time: endedAt?.toISOString(),
        exit_code: exitCode,
        duration,
      }),
    );
    // The list is cut at its end, so the latest executions come first.
    const { items, truncated } = firstEntries(listed.reverse(), limit);
    return { processes: items, count: items.length, total_processes: all.length, truncated, note };
  },
});

const executeProcessOutput = sandboxTool({
  name: "execute_process_output",
  title: "Read a background execution's output",
  description:
    "Reads what a background execution has written, while it runs and after, and at its end its value and plots. Pass stdout_offset and stderr_offset of the result to the next call.",
  toolset: "code",
  annotations: readOnlyInside,
  input: z.object({
    ...sandboxReference,
    process_id: processId,
    wait: z
      .int("must be a whole number of 0 to 50 seconds")
      .min(0, "must be a whole number of 0 to 50 seconds")
      .max(50, "must be a whole number of 0 to 50 seconds")
      .default(0)
      .describe("Seconds to wait for its end first, 0-50"),
    stdout_offset: outputOffset.describe("Bytes to skip; below 0: from the end"),
    stderr_offset: outputOffset.describe("As stdout_offset"),
  }),
  output: processOutput,
  handler: async ({ sandbox, process_id, wait, stdout_offset, stderr_offset, signal, report }) => {
    const options = { signal, onProgress: runningReport(report) };
    if (wait > 0) await sandbox.processes.get(process_id).waitAtMost(wait, options);
    const position = { stdoutOffset: stdout_offset, stderrOffset: stderr_offset };
    return readOutput(sandbox, process_id, position, signal);
  },
});

const executeKillProcess = sandboxTool({
  name: "execute_kill_process",
  title: "Kill a background execution",
  description: "Ends a background execution and everything that it started.",
  toolset: "code",
  annotations: destructive,
  input: z.object({ ...sandboxReference, process_id: processId }),
  output: z.looseObject({
    process_id: z.string(),
    status: z.string(),
  }),
  handler: async ({ sandbox, process_id, signal }) => {
    const execution = sandbox.processes.get(process_id);
    await execution.kill({ signal });
    const { status } = await execution.status({ signal });
    return { process_id, status, success: true, sandbox_id: sandbox.id };
  },
});

export const backgroundTools: readonly Tool[] = [
  executeCodeBackground,
  executeCodeAsync,
  executeListProcesses,
  executeProcessOutput,
  executeKillProcess,
];
