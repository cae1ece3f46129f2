/** The fields that must be present, and their types. */
export type RequiredFields = Readonly<Record<string, "string" | "number" | "boolean">>;

/**
 * Whether `value` has the required fields. Written by hand, because checking the protocol's schemas would need a library
 * as large as this package; a test compares both.
 */
export function hasFields(value: unknown, fields: RequiredFields): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const found: Record<string, unknown> = { ...value };
  return Object.entries(fields).every(([name, type]) => typeof found[name] === type);
}

/**
 * Returns `value` if it is a string, otherwise throws a `TypeError`, which `readBody` turns into an
 * `InvalidResponseError`.
 */
export function asText(value: unknown): string {
  if (typeof value === "string") return value;
  throw new TypeError("A text is missing");
}
