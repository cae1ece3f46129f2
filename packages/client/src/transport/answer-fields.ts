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

/** Parses a date; undefined if the text is missing or not a date. */
export function date(text: string | null | undefined): Date | undefined {
  if (text === null || text === undefined) return undefined;
  const value = new Date(text);
  return Number.isNaN(value.getTime()) ? undefined : value;
}

/** The bytes of a base64 text. Undefined if it is none, because the answer may come from a hostile sandbox. */
export function base64Bytes(text: unknown): Uint8Array | undefined {
  if (typeof text !== "string") return undefined;
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
