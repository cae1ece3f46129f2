/** An entry with the values of its variables hidden. References to variables of this machine stay visible. */
export function masked<Entry extends { readonly env?: unknown }>(entry: Entry): Entry {
  const { env } = entry;
  if (typeof env !== "object" || env === null) return entry;
  const shown = Object.entries(env).map(([key, value]) => [key, isReference(value) ? value : "***"]);
  return { ...entry, env: Object.fromEntries(shown) };
}

function isReference(value: unknown): boolean {
  return typeof value === "string" && /^\$\{\w+\}$/.test(value);
}
