/** Reads the environment variables of another server, for the profile that replaces it. */
import * as z from "zod";
import type { Environment } from "./environment.js";
import { OptionError } from "./option-error.js";

/** Reads the variables that `shape` names. An empty variable counts as not set. Throws an {@link OptionError}. */
export function readSettings<Shape extends z.ZodObject>(
  shape: Shape,
  environment: Environment,
): z.output<Shape> {
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
export function wholeNumberSetting(least: number, most: number): z.ZodCoercedNumber {
  const range = `must be a whole number from ${least} to ${most}`;
  return z.coerce.number(range).int(range).min(least, range).max(most, range);
}

/** A size as Docker spells it, such as `256m` or `1g`, in MiB. */
export const memorySetting = z
  .string()
  .regex(/^\d+(\.\d+)?[bkmg]?b?$/i, "must be a size such as 256m or 1g")
  .transform((text) => Math.floor((Number.parseFloat(text) * unit(text)) / 2 ** 20));

function unit(size: string): number {
  const [letter = "b"] = /[bkmg]/i.exec(size) ?? [];
  return 1024 ** "bkmg".indexOf(letter.toLowerCase());
}
