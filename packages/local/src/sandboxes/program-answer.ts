import { limits } from "@cloud-sandbox/protocol/limits";
import {
  languageNamed,
  languageNames,
  type ProgramAnswer,
  type ProgramSpec,
} from "@cloud-sandbox/server-kit/handlers";

type Fields = Omit<ProgramAnswer, "id" | "isolation">;

/** Most displayed values that an answer contains. */
const mostValues = limits.displayedValues;

const reasons = ["exit", "timeout", "out_of_memory", "killed", "signal", "interrupted"] as const;
const texts = ["timestamp", "execution_id", "result", "png", "html", "svg", "markdown", "latex"] as const;
const counts = ["stdout_bytes", "stderr_bytes", "rich_outputs_dropped"] as const;
const flags = ["stdout_truncated", "stderr_truncated"] as const;

/** The answer for a program that an agent ran. Code in the sandbox may have written the agent's answer: only fields of the contract's types are copied. */
export function programAnswer(
  raw: Readonly<Record<string, unknown>>,
  { language, wantsRich }: Pick<ProgramSpec, "language" | "wantsRich">,
): Fields {
  const exitCode = Number.isSafeInteger(raw.exit_code) ? Number(raw.exit_code) : 1;
  const reason = reasons.find((known) => known === raw.termination_reason);
  const outputs = Array.isArray(raw.rich_outputs) ? raw.rich_outputs.slice(0, mostValues) : [];
  return {
    success: exitCode === 0,
    stdout: output(raw.stdout, raw.stdout_truncated),
    stderr: output(raw.stderr, raw.stderr_truncated),
    exit_code: exitCode,
    execution_time: typeof raw.execution_time === "number" ? raw.execution_time : 0,
    ...(reason && { termination_reason: reason }),
    ...picked(raw, texts, (value) => typeof value === "string"),
    ...picked(raw, counts, (value) => Number.isSafeInteger(value)),
    ...picked(raw, flags, (value) => typeof value === "boolean"),
    language: languageNamed(language, Object.values(languageNames)).name,
    ...picked(raw, ["json"], (value) => typeof value === "object" && value !== null),
    ...exceptionIn(raw.exception),
    rich_outputs: wantsRich ? outputs.flatMap(displayedValue) : [],
  };
}

/** The text of an output, without the path of the file with the whole output, because that file is deleted with the sandbox. */
function output(text: unknown, isCut: unknown): string {
  if (typeof text !== "string") return "";
  return isCut === true ? text.replace(/^(\[\.\.\. \d+ bytes cut); .* \.\.\.\]$/m, "$1 ...]") : text;
}

function picked(
  raw: Readonly<Record<string, unknown>>,
  names: readonly string[],
  isValid: (value: unknown) => boolean,
): Record<string, never> {
  const found = names.filter((name) => isValid(raw[name])).map((name) => [name, raw[name]]);
  return Object.fromEntries(found) as Record<string, never>;
}

function exceptionIn(value: unknown): Pick<Fields, "exception"> {
  if (typeof value !== "object" || value === null) return {};
  const fields = value as Readonly<Record<string, unknown>>;
  // Not String(): it throws for an object whose `toString` is no function.
  const text = (name: string): string => {
    const told = fields[name];
    return typeof told === "string" ? told.slice(0, limits.exceptionCharacters) : "";
  };
  return { exception: { name: text("name"), value: text("value"), traceback: text("traceback") } };
}

function displayedValue(value: unknown): NonNullable<Fields["rich_outputs"]> {
  if (typeof value !== "object" || value === null || !("type" in value) || typeof value.type !== "string")
    return [];
  const { type, format, data, metadata } = value as Readonly<Record<string, unknown>>;
  const size =
    typeof metadata === "object" && metadata !== null && "size" in metadata ? metadata.size : undefined;
  return [
    {
      type: String(type),
      ...(typeof format === "string" && { format }),
      ...(data !== undefined && { data }),
      ...(typeof size === "number" && { metadata: { size } }),
    },
  ];
}
