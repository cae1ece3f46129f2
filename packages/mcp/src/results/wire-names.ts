/**
 * The client's records under the wire's names, which these tools promise: `memoryMb` is `memory_mb`, a date is text,
 * and what is not known is left out.
 */
export function wireNames(record: object): Record<string, unknown> {
  const named = Object.entries(record).map(([name, value]) => [snakeCase(name), wireValue(value)] as const);
  return Object.fromEntries(named.filter(([, value]) => value !== undefined && value !== null));
}

function wireValue(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(wireValue);
  if (typeof value !== "object" || value === null) return value;
  const named = wireNames(value);
  return Object.keys(named).length === 0 ? undefined : named;
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
