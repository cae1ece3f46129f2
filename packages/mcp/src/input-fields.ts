/**
 * Inputs that several tools share, each described once. A model reads these descriptions with every tool, so they
 * are short; the messages are what it reads when it got one wrong.
 */
import * as z from "zod";

const text = z.string("must be text").min(1, "must not be empty");

/** Which sandbox a call is about: the first fields of every tool that works in one. */
export const sandboxReference = {
  sandbox_id: text.optional().describe("Id from create_sandbox"),
  vm_url: text.optional().describe("Its direct_url, instead of sandbox_id"),
  auth_token: z.string().optional().describe("Not needed: the server holds the tokens"),
};
export type SandboxReference = typeof sandboxReference;

export const sandboxId = text.describe("Sandbox id");

/** Most bytes of one text that a tool takes. */
const longestText = 16 * 1024 * 1024;

export const code = longText("put its data into files with file_write").describe("The program");

export const fileContent = longText(
  "write it in parts with file_write, then join them with run_command and cat",
).describe("The whole text");

const languages = ["python", "javascript", "bash", "go"] as const;

export const language = z
  .enum(languages, `must be one of ${languages.join(", ")}`)
  .default("python")
  .describe("Language of code");

/** How long code may run, in seconds; the wire allows 1 to 300. */
export const executionTimeout = wholeSeconds(300).default(30).describe("Seconds, 1-300; then it is killed");

/** How long a sandbox lives, in seconds: up to a day. */
export const lifetime = wholeSeconds(86_400);

/** Names as shells take them, values as text. */
export const variables = z.record(
  z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must be a name of letters, digits and _, not starting with a digit"),
  z.string("must be text"),
  "must be an object of names and values",
);

export const runEnvironment = variables.optional().describe("Environment variables of this run only");

export const workingDirectory = text.default("/workspace").describe("Directory to run in");

export const absolutePath = text.describe("Absolute path under /workspace or /tmp");

export const templateName = text.describe("Template, by name");

export const region = text.optional().describe("Where to run it");

/** Most entries of a list to return, 1 to `most`. */
export function maxResults(standard: number, most: number): z.ZodDefault<z.ZodInt> {
  return wholeNumber(most, "").default(standard).describe(`Most entries to return, 1-${most}`);
}

/** Not a bound of the schema, which every conversation would pay for and next to none needs. */
function longText(instead: string): z.ZodString {
  const limit = `must be at most ${longestText / 1024 / 1024} MiB: ${instead}`;
  return z.string("must be text").refine((text) => Buffer.byteLength(text) <= longestText, limit);
}

function wholeSeconds(most: number): z.ZodInt {
  return wholeNumber(most, " seconds");
}

function wholeNumber(most: number, unit: string): z.ZodInt {
  const range = `must be a whole number of 1 to ${most}${unit}`;
  return z.int(range).min(1, range).max(most, range);
}
