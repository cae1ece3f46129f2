/** Parses a date; undefined if the text is missing or not a date. */
export function date(text: string | null | undefined): Date | undefined {
  if (text === null || text === undefined) return undefined;
  const value = new Date(text);
  return Number.isNaN(value.getTime()) ? undefined : value;
}
