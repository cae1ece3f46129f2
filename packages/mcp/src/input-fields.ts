/** Inputs that several tools share, each described once. Every word here is read by a model with every tool. */
import * as z from "zod";

/** Which sandbox a call is about: the first fields of every tool that works in one. */
export const sandboxReference = {
  sandbox_id: z.string().min(1).optional().describe("Id from create_sandbox"),
  vm_url: z.string().min(1).optional().describe("Its direct_url, instead of sandbox_id"),
  auth_token: z.string().optional().describe("Not needed: the server holds the tokens"),
};
export type SandboxReference = typeof sandboxReference;

export const sandboxId = z.string().min(1).describe("Sandbox id");

export const languages = ["python", "javascript", "bash", "go"] as const;

export const language = z
  .enum(languages, `must be one of ${languages.join(", ")}`)
  .default("python")
  .describe("Language of code");

/** How long code may run, in seconds; the wire allows 1 to 300. */
export const executionTimeout = z
  .int("must be a whole number of seconds, 1 to 300")
  .min(1, "must be 1 to 300 seconds")
  .max(300, "must be 1 to 300 seconds; split work that takes longer")
  .default(30)
  .describe("Seconds, 1-300; then it is killed");

export const runEnvironment = z
  .record(z.string(), z.string("values must be strings"))
  .optional()
  .describe("Environment variables of this run only");

export const workingDirectory = z.string().min(1).default("/workspace").describe("Directory to run in");

export const absolutePath = z.string().min(1).describe("Absolute path under /workspace or /tmp");

/** How long a sandbox lives, in seconds. */
export const lifetime = z
  .int("must be a whole number of seconds, 1 to 86400")
  .min(1, "must be 1 to 86400 seconds")
  .max(86_400, "must be 1 to 86400 seconds (a day)");

/** Most entries of a list to return. */
export function maxResults(standard: number): z.ZodDefault<z.ZodInt> {
  return z.int().min(1).max(10_000).default(standard).describe("Most entries to return");
}
