/** Checks a call's arguments, and says what is wrong with them in words that a model can act on. */
import type * as z from "zod";

/** The caller gave something this tool cannot work with; the message names it and the way out. */
export class InvalidArgumentsError extends Error {
  override readonly name = "InvalidArgumentsError";
}

export function readArguments<Input extends z.ZodObject>(
  { name, input }: { readonly name: string; readonly input: Input },
  given: unknown,
): z.output<Input> {
  const parsed = input.safeParse(given ?? {});
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => describe(issue, given)).join("; ");
  throw new InvalidArgumentsError(`${name} cannot use these arguments: ${problems}.`);
}

/** Never the value itself: it may be a secret of the environment. */
function describe(issue: z.core.$ZodIssue, given: unknown): string {
  if (issue.path.length === 0) return "they must be an object";
  const field = issue.path.join(".");
  const absent = issue.path.reduce(member, given) === undefined;
  return absent ? `${field} is required` : `${field}: ${issue.message}`;
}

function member(value: unknown, key: PropertyKey): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}
