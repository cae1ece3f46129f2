/** Formats a structured result as text that is short and easy to read. */
export function compactText(result: Readonly<Record<string, unknown>>): string {
  return Object.entries(result)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => line(name, value))
    .join("\n");
}

function line(name: string, value: unknown): string {
  if (Array.isArray(value) && value.length > 0)
    return [`${name}:`, ...value.map((item) => plain(item))].join("\n");
  const text = plain(value);
  return text.includes("\n") ? `${name}:\n${text.replace(/\n$/, "")}` : `${name}: ${text}`;
}

function plain(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}
