/**
 * Inputs that several tools share. A model reads the descriptions with every tool, so they are short; it reads a message only when
 * an argument is wrong.
 */

import { languages as known, limits } from "@cloud-sandbox/server-kit/limits";
import * as z from "zod";

/** The languages of code that sandboxes run. */
export const languages = Object.keys(known) as (keyof typeof known)[];

export const text = z.string("must be text").min(1, "must not be empty");

/** Names the sandbox of a call: the first fields of every tool that works in a sandbox. */
export const sandboxReference = {
  sandbox_id: text.optional().describe("Id from create_sandbox"),
  vm_url: text.optional().describe("The sandbox's direct_url, instead of sandbox_id"),
  auth_token: z.string().optional().describe("Not needed: the server holds the tokens"),
};
export type SandboxReference = typeof sandboxReference;

export const sandboxId = text.describe("Sandbox id");

/** Bytes of the longest text that a tool takes. */
const longestText = 16 * 1024 * 1024;

export const code = longText("put its data into files with file_write").describe("The program");

export const command = z.string("must be text").trim().min(1, "must not be empty").describe("Command line");

export const fileContent = longText(
  "write it in parts with file_write, then join them with run_command and cat",
).describe("The whole text");

export const fileSource = longText("write it in parts with file_write").describe(
  "data:;base64,… or sandbox://{id}/files/{path}",
);

export const language = z
  .enum(languages, `must be one of ${languages.join(", ")}`)
  .default("python")
  .describe("Language of code");

/** Seconds that code may run. */
export const executionTimeout = wholeSeconds(limits.executionSeconds)
  .default(limits.executionDefaultSeconds)
  .describe("Seconds until it is killed");

/** Seconds that a background execution may run. */
export function backgroundTimeout(standard: number): z.ZodDefault<z.ZodInt> {
  return wholeSeconds(limits.backgroundSeconds).default(standard).describe("Seconds until it is killed");
}

/** The limit of a run whose mode decides the default and the maximum. */
export const optionalTimeout = wholeSeconds(limits.backgroundSeconds).optional();

/** Seconds that a sandbox lives. */
export const lifetime = wholeSeconds(limits.sandboxSeconds);

/** Names a background execution. */
export const processId = text.describe("process_id of a background execution");

export const outputOffset = z.int("must be a whole number of bytes").default(0);

export const jobName = z
  .string("must be text")
  .max(200, "must be at most 200 characters")
  .optional()
  .describe("A name for people");

export const port = wholeNumber(65_535).describe("1-65535");

/** Environment variables: names that shells accept, and values as text. */
export const variables = z.record(
  z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must be a name of letters, digits and _, not starting with a digit"),
  z.string("must be text"),
  "must be an object of names and values",
);

export const runEnvironment = variables.optional().describe("Variables of this run only");

export const workingDirectory = text.default("/workspace").describe("Directory to run in");

/** Code to run in a sandbox. Each tool gives its own limit of time. */
export function programInSandbox<Timeout extends z.ZodType>(timeout: Timeout) {
  return {
    ...sandboxReference,
    code,
    language,
    timeout,
    env: runEnvironment,
    working_dir: workingDirectory,
  };
}

export const absolutePath = text.describe("Absolute path under /workspace or /tmp");

export const templateName = text.describe("Template, by name");

/** When it is absent, the backend decides: on in the cloud, and on this machine unless CLOUD_SANDBOX_INTERNET says otherwise. */
export const internetAccess = z
  .boolean("must be true or false")
  .optional()
  .describe("Default: on, unless the server is set otherwise");

export const region = text.optional().describe("Where to run it");

/** The number of entries to return: -1 returns as many as a result holds. More than `most` counts as `most`. */
export function maxResults(standard: number, most: number): z.ZodDefault<z.ZodInt> {
  const rule = `must be a whole number of 1 to ${most}, or -1 for no limit`;
  const isCount = (count: number): boolean => count === -1 || count >= 1;
  return z.int(rule).refine(isCount, rule).default(standard).describe("Most entries; -1: no limit");
}

/**
 * The length limit is checked but not part of the schema: a model would read it in every conversation, and hardly any
 * code reaches it.
 */
function longText(instead: string): z.ZodString {
  const limit = `must be at most ${longestText / 1024 / 1024} MiB: ${instead}`;
  return z.string("must be text").refine((text) => Buffer.byteLength(text) <= longestText, limit);
}

export function wholeSeconds(most: number): z.ZodInt {
  return wholeNumber(most, " seconds");
}

export function wholeNumber(most: number, unit = ""): z.ZodInt {
  const range = `must be a whole number of 1 to ${most}${unit}`;
  return z.int(range).min(1, range).max(most, range);
}
