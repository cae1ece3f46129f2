/** Checks a call's arguments, and says what is wrong with them in words that a model can act on. */
import type * as z from "zod";

/** The caller gave something this tool cannot work with; the message names it and the way out. */
export class InvalidArgumentsError extends Error {
  override readonly name = "InvalidArgumentsError";
}

/** Problems told at a time; a call can have thousands. */
const mostProblems = 5;

export function readArguments<Input extends z.ZodObject>(
  { name, input }: { readonly name: string; readonly input: Input },
  given: unknown,
): z.output<Input> {
  const parsed = input.safeParse(given ?? {});
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.slice(0, mostProblems).map((issue) => describe(issue, given));
  throw new InvalidArgumentsError(`${name} cannot use these arguments: ${problems.join("; ")}.`);
}

/** Never the value itself: it may be a secret of the environment. */
function describe(issue: z.core.$ZodIssue, given: unknown): string {
  if (issue.path.length === 0) return "they must be an object";
  const field = issue.path.join(".").slice(0, 200);
  if (issue.path.reduce(member, given) === undefined) return `${field} is required`;
  // What is wrong with the key of a record is one level further down.
  const { message } = (issue.code === "invalid_key" ? issue.issues[0] : undefined) ?? issue;
  return `${field} ${message}`;
}

function member(value: unknown, key: PropertyKey): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}
