/**
 * Checks of option values before anything is sent. `check…` accepts undefined, `require…` does not; errors name the
 * option.
 */
import { invalidArgument } from "../errors/errors.js";

/** Throws unless the value is undefined or a non-empty string. */
export function checkText(name: string, value: unknown, longest = Number.POSITIVE_INFINITY): void {
  if (value !== undefined) requireText(name, value, longest);
}

/** Throws unless the value is a non-empty string. */
export function requireText(name: string, value: unknown, longest = Number.POSITIVE_INFINITY): void {
  if (typeof value === "string" && value.trim() !== "" && value.length <= longest) return;
  const most = longest === Number.POSITIVE_INFINITY ? "" : ` of at most ${longest} characters`;
  throw invalidArgument(`${name} must be text${most}, not empty; it is ${kindOf(value)}.`);
}

export function checkBoolean(name: string, value: unknown): void {
  if (value === undefined || typeof value === "boolean") return;
  throw invalidArgument(`${name} must be true or false; it is ${kindOf(value)}.`);
}

export function checkFunction(name: string, value: unknown): void {
  if (value === undefined || typeof value === "function") return;
  throw invalidArgument(`${name} must be a function; it is ${kindOf(value)}.`);
}

export function checkWhole(
  name: string,
  value: unknown,
  least: number,
  most = Number.MAX_SAFE_INTEGER,
): void {
  if (value !== undefined) requireWhole(name, value, least, most);
}

export function requireWhole(
  name: string,
  value: unknown,
  least: number,
  most = Number.MAX_SAFE_INTEGER,
): void {
  if (typeof value === "number" && Number.isInteger(value) && value >= least && value <= most) return;
  const range = most === Number.MAX_SAFE_INTEGER ? `${least} or more` : `from ${least} to ${most}`;
  throw invalidArgument(`${name} must be a whole number, ${range}; it is ${numberOr(value)}.`);
}

export function checkSeconds(name: string, value: unknown): void {
  if (value === undefined || (typeof value === "number" && value > 0)) return;
  throw invalidArgument(`${name} must be a number of seconds above 0; it is ${numberOr(value)}.`);
}

export function checkOneOf<Value>(name: string, value: Value | undefined, allowed: readonly Value[]): void {
  if (value === undefined || allowed.includes(value)) return;
  throw invalidArgument(`${name} must be one of ${allowed.join(", ")}; it is ${kindOf(value)}.`);
}

/** Throws unless the value is undefined or an object whose values are strings. */
export function checkTexts(name: string, value: unknown): void {
  if (value === undefined) return;
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw invalidArgument(
      `${name} must be an object of strings; it is ${kindOf(value)}.`,
      "Write { NAME: value }.",
    );
  for (const [key, text] of Object.entries(value))
    if (typeof text !== "string")
      throw invalidArgument(`${name}.${key} must be text; it is ${kindOf(text)}.`);
}

export function numberOr(value: unknown): string {
  return typeof value === "number" ? String(value) : kindOf(value);
}

/** The kind of a value for an error message, never the value itself: it may be a secret. */
export function kindOf(value: unknown): string {
  if (value === "") return "empty";
  if (value === undefined || value === null) return String(value);
  return Array.isArray(value) ? "a list" : `of type ${typeof value}`;
}
