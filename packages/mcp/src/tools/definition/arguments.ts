/** Checks the arguments of a call. Its messages say what to correct, so that a model can act on them. */
import type * as z from "zod";
import { InvalidArgumentsError } from "../../errors/errors.js";
import { similarNames } from "../../errors/similar-names.js";

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

/**
 * Reads arguments as models mean them: many write numbers, switches and objects as text, null for what they leave out, and
 * choices in another case. Only where the schema wants something else than text, so that text which looks like it stays.
 */
export function normalized(value: unknown, schema: z.core.$ZodType): unknown {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case "optional":
    case "default":
      return normalized(value, def.innerType);
    case "number":
      return typeof value === "string" && /^\s*[-+]?\d+(\.\d+)?\s*$/.test(value) ? Number(value) : value;
    case "boolean":
      return typeof value === "string" ? (truths.get(value.trim().toLowerCase()) ?? value) : value;
    case "enum":
      return choice(value, Object.values(def.entries));
    case "object":
      return normalizedMembers(withoutNulls(fromText(value, isFields)), (name) =>
        Object.hasOwn(def.shape, name) ? def.shape[name] : undefined,
      );
    case "record":
      return normalizedMembers(fromText(value, isFields), () => def.valueType);
    case "array": {
      const list = fromText(value, Array.isArray);
      return Array.isArray(list) ? list.map((each) => normalized(each, def.element)) : list;
    }
    default:
      return value;
  }
}

const truths: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["false", false],
]);

function choice(value: unknown, choices: readonly unknown[]): unknown {
  if (typeof value !== "string" || choices.includes(value)) return value;
  return choices.find((each) => String(each).toLowerCase() === value.trim().toLowerCase()) ?? value;
}

function normalizedMembers(value: unknown, schemaOf: (name: string) => z.core.$ZodType | undefined): unknown {
  if (!isFields(value)) return value;
  const members = Object.entries(value).map(([name, value]): [string, unknown] => {
    const schema = schemaOf(name);
    return [name, schema === undefined ? value : normalized(value, schema)];
  });
  return Object.fromEntries(members);
}

function withoutNulls(value: unknown): unknown {
  if (!isFields(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, value]) => value !== null));
}

/** The value that a text has in JSON, if it is of the wanted kind. */
function fromText(value: unknown, isWanted: (value: unknown) => boolean): unknown {
  if (typeof value !== "string") return value;
  try {
    const parsed: unknown = JSON.parse(value);
    return isWanted(parsed) ? parsed : value;
  } catch {
    return value;
  }
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Words that models know from other servers for the arguments of these tools: each list has words that mean the same, in small letters without "_", the likeliest first. */
const groups: ReadonlyArray<readonly string[]> = [
  ["cwd", "workdir", "workingdir", "workingdirectory", "directory", "dir", "folder"],
  ["timeout", "timeoutseconds", "timeoutms", "timelimit", "ttl", "lifetime", "duration", "seconds"],
  ["env", "envs", "envvars", "environment", "environmentvariables", "variables", "vars"],
  ["code", "script", "source", "sourcecode", "program", "snippet"],
  ["command", "cmd", "commandline", "shellcommand"],
  ["language", "lang", "runtime", "kernel", "interpreter"],
  ["path", "file", "filename", "filepath", "target", "destination"],
  ["content", "contents", "text", "data", "body"],
  ["sandboxid", "id", "sandbox", "session", "sessionid", "containerid", "vmid"],
  ["processid", "jobid", "executionid", "taskid"],
  ["templatename", "template", "image", "snapshot", "name"],
  ["internetaccess", "internet", "network", "allowinternetaccess", "networkaccess"],
  ["memorymb", "memory", "ram"],
  ["vcpu", "cpu", "cpus", "cores", "vcpus"],
  ["maxresults", "limit", "max", "count", "pagesize"],
  ["arguments", "args", "params", "parameters", "input"],
];

const letters = (name: string): string => name.toLowerCase().replaceAll("_", "");

/** The argument, one of `known`, that others call `name`. Undefined if there is none. */
function argumentForWord(name: string, known: readonly string[]): string | undefined {
  const group = groups.find((words) => words.includes(letters(name))) ?? [];
  const meant = group.find((word) => known.some((each) => letters(each) === word));
  return known.find((each) => letters(each) === meant);
}

/** Whether `name` counts in milliseconds, which no argument of these tools does. */
function isInMilliseconds(name: string): boolean {
  return /(ms|millis|milliseconds)$/i.test(name);
}
