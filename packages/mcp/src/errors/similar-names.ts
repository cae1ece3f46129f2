/** Finds the existing name that a misspelt one may stand for. */

/** Most names that a message lists. */
const mostListed = 100;

/** The end of a message about an unknown name: similar names, or those that exist. */
export function instead(name: string, known: readonly string[]): string {
  const similar = similarNames(name, known);
  if (similar.length > 0) return `did you mean ${similar.join(" or ")}?`;
  return known.length > 0 ? `there is ${known.slice(0, mostListed).join(", ")}.` : "there is none.";
}

/** Names that begin or end like `name`, or that `name` abbreviates: at most two, the likeliest first. */
export function similarNames(name: string, known: readonly string[]): string[] {
  const wanted = letters(name);
  const scored = known.map((candidate) => ({ candidate, score: similarity(wanted, letters(candidate)) }));
  return scored
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, 2)
    .map(({ candidate }) => candidate);
}

function letters(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, "");
}

function similarity(a: string, b: string): number {
  const [shorter, longer] = a.length < b.length ? [a, b] : [b, a];
  if (shorter.length < 2) return 0;
  if (longer.startsWith(shorter)) return 3;
  if (longer.endsWith(shorter)) return 2;
  return shorter.length >= 4 && isSubsequence(shorter, longer) ? 1 : 0;
}

function isSubsequence(shorter: string, longer: string): boolean {
  let at = 0;
  for (const letter of longer) if (letter === shorter[at]) at += 1;
  return at === shorter.length;
}
