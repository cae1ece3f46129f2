import { languages } from "@cloud-sandbox/protocol/limits";
import { Problem } from "../../http/problem.js";

/** The names of a language, and the program that must be installed to run it. */
export interface LanguageName {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly interpreter: string;
}

/** The languages that code can be written in. */
export const languageNames = {
  python: { name: "python", aliases: languages.python, interpreter: "python3" },
  javascript: { name: "javascript", aliases: languages.javascript, interpreter: "node" },
  bash: { name: "bash", aliases: languages.bash, interpreter: "bash" },
  go: { name: "go", aliases: languages.go, interpreter: "go" },
} as const satisfies Readonly<Record<string, LanguageName>>;

/**
 * The language with that name or alias, in any case. Throws a 400 problem that lists the accepted names if there is
 * none.
 */
export function languageNamed<Language extends LanguageName>(
  name: string,
  known: readonly Language[],
): Language {
  const wanted = name.toLowerCase();
  const language = known.find((candidate) => candidate.name === wanted || candidate.aliases.includes(wanted));
  if (language) return language;
  const accepted = known.map(({ name, aliases }) => `${name} (${aliases.join(", ")})`).join(", ");
  throw new Problem(400, "INVALID_REQUEST", `language must be one of ${accepted}.`, {
    details: { language: name, accepted: known.map((candidate) => candidate.name) },
  });
}

export const languageNotAvailable = ({ name, interpreter }: LanguageName) =>
  new Problem(
    400,
    "LANGUAGE_NOT_AVAILABLE",
    `This sandbox cannot run ${name}: its template has no ${interpreter}.`,
    { hint: `Use a template that has ${interpreter}.`, details: { language: name, interpreter } },
  );
