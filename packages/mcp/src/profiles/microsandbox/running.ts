import { limits } from "@cloud-sandbox/server-kit/limits";
import type { ExecutionResult, ProgramResult } from "cloud-sandbox";
import * as z from "zod";
import { jsonAnswer } from "../../results/answer.js";
import { bytesMissing, cutMiddle, resultBudget, shareBudget } from "../../results/output-limit.js";
import { code } from "../../tools/definition/input-fields.js";
import { executing, tool } from "../../tools/definition/tool.js";
import { inRunning, namespaceInput, sandboxInput } from "./names.js";

/** The longest run, in seconds. Longer ones belong in the background. */
const longestRun = limits.executionSeconds;

const languages = {
  python: "python",
  nodejs: "javascript",
  node: "javascript",
  javascript: "javascript",
} as const;

const lines = z
  .array(z.looseObject({ stream: z.string().describe("stdout or stderr"), text: z.string() }))
  .describe("Line by line; long output in one piece for each stream, without its middle");

export const sandboxRunCode = tool({
  name: "sandbox_run_code",
  title: "Run code",
  description:
    "Runs code in a sandbox that sandbox_start has started. Variables, imports and files stay for later calls. It is stopped after 300 seconds.",
  toolset: "code",
  annotations: executing,
  input: z.object({
    sandbox: sandboxInput,
    namespace: namespaceInput,
    code,
    language: z.enum(["python", "nodejs", "node", "javascript"]).describe("Language of code"),
  }),
  output: z.looseObject({
    status: z.string().describe("success, or error if the code failed"),
    language: z.string(),
    output: lines,
  }),
  handler: async ({ code, language, ...call }) => {
    const { signal } = call;
    const options = { language: languages[language], timeoutSeconds: longestRun, signal };
    const run = await inRunning(call, (sandbox) => sandbox.execute(code, options));
    return jsonAnswer({
      status: run.success ? "success" : "error",
      language,
      output: outputOf(run, run.value),
    });
  },
});

export const sandboxRunCommand = tool({
  name: "sandbox_run_command",
  title: "Run a command",
  description:
    "Runs a program with its arguments in a sandbox that sandbox_start has started; for pipes and redirections give bash the arguments -c and the line. It is stopped after 300 seconds.",
  toolset: "commands",
  annotations: executing,
  input: z.object({
    sandbox: sandboxInput,
    namespace: namespaceInput,
    command: z.string("must be text").trim().min(1, "must not be empty").describe("Program to run"),
    args: z
      .array(z.string("must be text"), "must be a list of arguments")
      .default([])
      .describe("Its arguments, taken literally"),
  }),
  output: z.looseObject({
    command: z.string(),
    args: z.array(z.string()),
    exit_code: z.number(),
    success: z.boolean(),
    output: lines,
  }),
  handler: async ({ command, args, ...call }) => {
    const { signal } = call;
    const run = await inRunning(call, (sandbox) =>
      sandbox.commands.run([command, ...args], { timeoutSeconds: longestRun, signal }),
    );
    return jsonAnswer({
      command,
      args,
      exit_code: run.exitCode,
      success: run.success,
      output: outputOf(run),
    });
  },
});

type Output = { stream: "stdout" | "stderr"; text: string }[];

/** The output, the value of the last expression as an interpreter prints it, and why the program was stopped. */
function outputOf(run: ProgramResult, value?: ExecutionResult["value"]): Output {
  const stopped = run.terminationReason === "timeout" ? `stopped after ${longestRun} seconds\n` : "";
  const stdout = run.stdout + (value === undefined ? "" : `${endLine(run.stdout)}${value}\n`);
  const stderr = run.stderr + (stopped === "" ? "" : endLine(run.stderr) + stopped);
  const whole: Output = [...linesOf("stdout", stdout), ...linesOf("stderr", stderr)];
  if (Buffer.byteLength(JSON.stringify(whole)) <= resultBudget) return whole;
  const [out, err] = shareBudget(stdout, stderr, resultBudget);
  const pieces: Output = [
    { stream: "stdout", text: cutMiddle(stdout, out, bytesMissing(run.stdout, run.output.stdout)).text },
    { stream: "stderr", text: cutMiddle(stderr, err, bytesMissing(run.stderr, run.output.stderr)).text },
  ];
  return pieces.filter(({ text }) => text !== "");
}

function endLine(text: string): string {
  return text === "" || text.endsWith("\n") ? "" : "\n";
}

function linesOf(stream: "stdout" | "stderr", text: string): Output {
  if (text === "") return [];
  return text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => ({ stream, text: line }));
}
