import { invalidArgument } from "../errors/errors.js";
import { optionForWord } from "./synonyms.js";

/** The names of all options of a type. The compiler reports missing and superfluous names. */
export type OptionNames<Options> = { readonly [Name in keyof Required<Options>]: true };

/**
 * Throws for unknown options. JavaScript would silently ignore a misspelt one: a client created with `baseURL` would send
 * its key to the default server.
 */
export function checkKnown<Options extends object>(
  what: string,
  options: Options | undefined,
  names: OptionNames<Options>,
): void {
  if (options === undefined) return;
  // A list, or a text that a method has copied into an object, has members with numbers for names.
  if (typeof options !== "object" || options === null || Object.hasOwn(options, "0"))
    throw invalidArgument(
      `The options of ${what} must be an object.`,
      `Write { ${usual.find((name) => Object.hasOwn(names, name)) ?? Object.keys(names)[0]}: value }.`,
    );
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || Object.hasOwn(names, name)) continue;
    const known = Object.keys(names);
    const meant = optionForWord(name, known) ?? closest(name, known);
    throw invalidArgument(
      `${what} has no option "${name.slice(0, 80)}".`,
      meant === undefined
        ? `Its options are ${known.join(", ")}.`
        : `Did you mean "${meant}"${unit(name, meant)}?`,
    );
  }
}

/** Options whose values are most often given without a name. */
const usual = ["apiKey", "language", "template", "workdir"];

/** Other libraries count in milliseconds. */
function unit(name: string, meant: string): string {
  const isOther = /(ms|millis|milliseconds|timeout)$/i.test(name) && meant.endsWith("Seconds");
  return isOther ? ", in seconds" : "";
}

/** The option name most similar to `name`, by shared pairs of letters; undefined if none is similar enough. */
function closest(name: string, names: readonly string[]): string | undefined {
  const asked = pairsOf(name);
  const similarity = (known: string): number => {
    const pairs = pairsOf(known);
    const shared = [...pairs].filter((pair) => asked.has(pair)).length;
    return (2 * shared) / (pairs.size + asked.size);
  };
  const [best] = [...names].sort((one, other) => similarity(other) - similarity(one));
  return best !== undefined && similarity(best) >= 0.4 ? best : undefined;
}

function pairsOf(name: string): Set<string> {
  const letters = name.toLowerCase();
  return new Set(
    Array.from({ length: Math.max(letters.length - 1, 1) }, (_, at) => letters.slice(at, at + 2)),
  );
}
