/** The fields that must be there, and of which type. */
export type RequiredFields = Readonly<Record<string, "string" | "number" | "boolean">>;

/**
 * Whether `value` has them. The schemas of the protocol say the same and more, and would bring along a library that is as
 * large as all of this package; a test holds the two together.
 */
export function hasFields(value: unknown, fields: RequiredFields): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const found: Record<string, unknown> = { ...value };
  return Object.entries(fields).every(([name, type]) => typeof found[name] === type);
}

/** For what reads a body: `value`, which must be a text. */
export function asText(value: unknown): string {
  if (typeof value === "string") return value;
  throw new TypeError("A text is missing");
}
