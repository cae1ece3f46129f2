import * as z from "zod";
import { type Environment, OptionError } from "../../settings.js";

/** Reads the variables that `shape` names. An empty variable counts as not set. Throws an {@link OptionError}. */
function readSettings<Shape extends z.ZodObject>(shape: Shape, environment: Environment): z.output<Shape> {
  const values = Object.keys(shape.shape).flatMap((name) => {
    const value = environment[name]?.trim() ?? "";
    return value === "" ? [] : [[name, value] as const];
  });
  const parsed = shape.safeParse(Object.fromEntries(values));
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join(".")} ${message}`);
  throw new OptionError(`${problems.join("; ")}.`);
}

/** A whole number from `least` to `most`. */
function wholeNumberSetting(least: number, most: number): z.ZodCoercedNumber {
  const range = `must be a whole number from ${least} to ${most}`;
  return z.coerce.number(range).int(range).min(least, range).max(most, range);
}

/** A size as Docker spells it, such as `256m` or `1g`, in MiB. */
const memorySetting = z
  .string()
  .regex(/^\d+(\.\d+)?[bkmg]?b?$/i, "must be a size such as 256m or 1g")
  .transform((text) => Math.floor((Number.parseFloat(text) * unit(text)) / 2 ** 20));

function unit(size: string): number {
  const [letter = "b"] = /[bkmg]/i.exec(size) ?? [];
  return 1024 ** "bkmg".indexOf(letter.toLowerCase());
}

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

type CodemodeSettings = z.output<typeof variables>;

/** Limits of each sandbox. */
export function sandboxLimits(environment: Environment): { memoryMb: number; vcpu: number } {
  const { CONTAINER_MEMORY_LIMIT: memoryMb, CONTAINER_CPU_LIMIT: vcpu } = codemodeSettings(environment);
  return { memoryMb, vcpu };
}

/** Reads mcp-codemode's environment variables and fills in its defaults. Throws an OptionError for an invalid value. */
export function codemodeSettings(environment: Environment): CodemodeSettings {
  return readSettings(variables, environment);
}
