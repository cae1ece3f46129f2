/** Checks the arguments of a call. Its messages say what to correct, so that a model can act on them. */
import type * as z from "zod";
import { InvalidArgumentsError } from "../../errors/invalid-arguments-error.js";
import { similarNames } from "../../errors/similar-names.js";
import { normalized } from "./normalized-arguments.js";
import { argumentForWord, isInMilliseconds } from "./synonyms.js";

/** The most problems that one message names, because a call can have thousands. */
const mostProblems = 5;

export function readArguments<Input extends z.ZodObject>(
  { name, input }: { readonly name: string; readonly input: Input },
  args: unknown,
): z.output<Input> {
  const present = normalized(args ?? {}, input);
  const parsed = input.safeParse(present, { error: inWords });
  const unknown = unknownNames(present, Object.keys(input.shape));
  if (parsed.success && unknown.length === 0) return parsed.data;
  const invalid = parsed.success ? [] : parsed.error.issues.map((issue) => describe(issue, present));
  const problems = [...unknown, ...invalid].slice(0, mostProblems);
  throw new InvalidArgumentsError(`${name} cannot use these arguments: ${problems.join("; ")}.`);
}

/** Unknown arguments are refused: ignoring one would do something else than was asked for. */
function unknownNames(args: unknown, known: readonly string[]): string[] {
  if (typeof args !== "object" || args === null || Array.isArray(args)) return [];
  return Object.keys(args)
    .filter((name) => !known.includes(name))
    .map((name) => `unknown argument ${name.slice(0, 200)} (${instead(name, known)})`);
}

function instead(name: string, known: readonly string[]): string {
  const meant = argumentForWord(name, known);
  const similar = meant === undefined ? similarNames(name, known) : [meant];
  const unit = isInMilliseconds(name) ? ", in seconds" : "";
  if (similar.length > 0) return `did you mean ${similar.join(" or ")}${unit}?`;
  return known.length > 0 ? `it takes ${known.join(", ")}` : "it takes none";
}

/** The message for a field whose schema has none. */
function inWords(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === "invalid_value") return `must be one of ${issue.values.map(String).join(", ")}`;
  if (issue.code === "invalid_type") return `must be ${typesInWords[issue.expected] ?? issue.expected}`;
  // Fields that need more than one character have a message of their own.
  if (issue.code === "too_small") return "must not be empty";
  return undefined;
}

const typesInWords: Readonly<Record<string, string>> = {
  string: "text",
  boolean: "true or false",
  number: "a number",
};

/** The message leaves the value out: it may be a secret, such as an environment variable. */
function describe(issue: z.core.$ZodIssue, args: unknown): string {
  if (issue.path.length === 0) return "they must be an object";
  const field = issue.path.join(".").slice(0, 200);
  if (issue.path.reduce(member, args) === undefined) return `${field} is required`;
  // For the key of a record, zod puts the message one level deeper.
  const { message } = (issue.code === "invalid_key" ? issue.issues[0] : undefined) ?? issue;
  return `${field} ${message}`;
}

function member(value: unknown, key: PropertyKey): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}
