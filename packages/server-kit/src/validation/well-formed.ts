import { isObject } from "../http/json-body.js";
import { Problem } from "../http/problem.js";

/**
 * Throws a 400 problem if a text or a property name in the body contains half a surrogate pair. JSON can escape such
 * a half, but strict readers reject it.
 */
export function requireWellFormed(body: unknown): void {
  if (!isObject(body)) return;
  for (const [field, value] of Object.entries(body)) {
    if (isWellFormed([field, value])) continue;
    const message = `${shown(field)} must be well-formed Unicode, without unpaired surrogates`;
    throw new Problem(400, "INVALID_REQUEST", message, {
      details: { errors: [{ field: shown(field), message }] },
    });
  }
}

/** Iterates instead of recursing, because a body may be nested as deeply as it is long. */
function isWellFormed(value: unknown): boolean {
  const parts = [value];
  for (const part of parts) {
    if (typeof part === "string" && halfPair.test(part)) return false;
    if (typeof part !== "object" || part === null) continue;
    for (const [name, inner] of Object.entries(part)) parts.push(name, inner);
  }
  return true;
}

const halfPair = /\p{Surrogate}/u;

const shown = (field: string): string => (halfPair.test(field) ? "a name" : field);
