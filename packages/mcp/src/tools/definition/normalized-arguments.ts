/**
 * Reads arguments as models mean them: many write numbers, switches and objects as text, null for what they leave out, and
 * choices in another case. Only where the schema wants something else than text, so that text which looks like it stays.
 */
import type * as z from "zod";

/** The arguments, with each value in the form that the schema wants, where the value can only mean that. */
export function normalized(given: unknown, schema: z.core.$ZodType): unknown {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case "optional":
    case "default":
      return normalized(given, def.innerType);
    case "number":
      return typeof given === "string" && /^\s*[-+]?\d+(\.\d+)?\s*$/.test(given) ? Number(given) : given;
    case "boolean":
      return typeof given === "string" ? (truths.get(given.trim().toLowerCase()) ?? given) : given;
    case "enum":
      return choice(given, Object.values(def.entries));
    case "object":
      return normalizedMembers(withoutNulls(fromText(given, isFields)), (name) =>
        Object.hasOwn(def.shape, name) ? def.shape[name] : undefined,
      );
    case "record":
      return normalizedMembers(fromText(given, isFields), () => def.valueType);
    case "array": {
      const list = fromText(given, Array.isArray);
      return Array.isArray(list) ? list.map((each) => normalized(each, def.element)) : list;
    }
    default:
      return given;
  }
}

const truths: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["false", false],
]);

function choice(given: unknown, choices: readonly unknown[]): unknown {
  if (typeof given !== "string" || choices.includes(given)) return given;
  return choices.find((each) => String(each).toLowerCase() === given.trim().toLowerCase()) ?? given;
}

function normalizedMembers(given: unknown, schemaOf: (name: string) => z.core.$ZodType | undefined): unknown {
  if (!isFields(given)) return given;
  const members = Object.entries(given).map(([name, value]): [string, unknown] => {
    const schema = schemaOf(name);
    return [name, schema === undefined ? value : normalized(value, schema)];
  });
  return Object.fromEntries(members);
}

function withoutNulls(given: unknown): unknown {
  if (!isFields(given)) return given;
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
}

/** The value that a text has in JSON, if it is of the wanted kind. */
function fromText(given: unknown, isWanted: (value: unknown) => boolean): unknown {
  if (typeof given !== "string") return given;
  try {
    const value: unknown = JSON.parse(given);
    return isWanted(value) ? value : given;
  } catch {
    return given;
  }
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
