import { invalidArgument } from "../errors/errors.js";

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
  if (typeof options !== "object" || options === null)
    throw invalidArgument(`The options of ${what} must be an object.`);
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || Object.hasOwn(names, name)) continue;
    const meant = closest(name, Object.keys(names));
    throw invalidArgument(
      `${what} has no option "${name.slice(0, 80)}".`,
      meant === undefined ? `Its options are ${Object.keys(names).join(", ")}.` : `Did you mean "${meant}"?`,
    );
  }
}

/** The option name most similar to `name`, by shared pairs of letters; undefined if none is similar enough. */
function closest(name: string, names: readonly string[]): string | undefined {
  const asked = pairsOf(name);
  const likeness = (known: string): number => {
    const pairs = pairsOf(known);
    const shared = [...pairs].filter((pair) => asked.has(pair)).length;
    return (2 * shared) / (pairs.size + asked.size);
  };
  const [best] = [...names].sort((one, other) => likeness(other) - likeness(one));
  return best !== undefined && likeness(best) >= 0.4 ? best : undefined;
}

function pairsOf(name: string): Set<string> {
  const letters = name.toLowerCase();
  return new Set(
    Array.from({ length: Math.max(letters.length - 1, 1) }, (_, at) => letters.slice(at, at + 2)),
  );
}
