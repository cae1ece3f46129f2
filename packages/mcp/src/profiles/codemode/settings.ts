import * as z from "zod";
import type { Environment } from "../../settings/environment.js";
import { memorySetting, readSettings, wholeNumberSetting } from "../../settings/read-settings.js";

const cpus = "must be a number of CPUs, 0.05 or more";

const variables = z.object({
  SANDBOX_IMAGE: z.string().default("python:3.12-slim"),
  POOL_SIZE: wholeNumberSetting(0, 64).default(2),
  EXEC_TIMEOUT: wholeNumberSetting(1, 300).default(30),
  MAX_OUTPUT_SIZE: wholeNumberSetting(100, 1_000_000).default(50_000),
  MCP_HOST: z.string().optional(),
  MCP_PORT: wholeNumberSetting(0, 65_535).default(8000),
  CONTAINER_MEMORY_LIMIT: memorySetting.refine((mib) => mib >= 128, "must be 128m or more").default(256),
  CONTAINER_CPU_LIMIT: z.coerce.number(cpus).min(0.05, cpus).max(1024, cpus).default(1),
});

export type CodemodeSettings = z.output<typeof variables>;

/** Limits of each sandbox. */
export function sandboxLimits(environment: Environment): { memoryMb: number; vcpu: number } {
  const { CONTAINER_MEMORY_LIMIT: memoryMb, CONTAINER_CPU_LIMIT: vcpu } = codemodeSettings(environment);
  return { memoryMb, vcpu };
}

/** Reads mcp-codemode's environment variables and fills in its defaults. Throws an OptionError for an invalid value. */
export function codemodeSettings(environment: Environment): CodemodeSettings {
  return readSettings(variables, environment);
}
