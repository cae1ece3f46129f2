/**
 * Reads arguments as models mean them: many write numbers, switches and objects as text, null for what they leave out, and
 * choices in another case. Only where the schema wants something else than text, so that text which looks like it stays.
 */
import type * as z from "zod";

/** The arguments, with each value in the form that the schema wants, where the value can only mean that. */
export function normalized(value: unknown, schema: z.core.$ZodType): unknown {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case "optional":
    case "default":
      return normalized(value, def.innerType);
    case "number":
      return typeof value === "string" && /^\s*[-+]?\d+(\.\d+)?\s*$/.test(value) ? Number(value) : value;
    case "boolean":
      return typeof value === "string" ? (truths.get(value.trim().toLowerCase()) ?? value) : value;
    case "enum":
      return choice(value, Object.values(def.entries));
    case "object":
      return normalizedMembers(withoutNulls(fromText(value, isFields)), (name) =>
        Object.hasOwn(def.shape, name) ? def.shape[name] : undefined,
      );
    case "record":
      return normalizedMembers(fromText(value, isFields), () => def.valueType);
    case "array": {
      const list = fromText(value, Array.isArray);
      return Array.isArray(list) ? list.map((each) => normalized(each, def.element)) : list;
    }
    default:
      return value;
  }
}

const truths: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["false", false],
]);

function choice(value: unknown, choices: readonly unknown[]): unknown {
  if (typeof value !== "string" || choices.includes(value)) return value;
  return choices.find((each) => String(each).toLowerCase() === value.trim().toLowerCase()) ?? value;
}

function normalizedMembers(value: unknown, schemaOf: (name: string) => z.core.$ZodType | undefined): unknown {
  if (!isFields(value)) return value;
  const members = Object.entries(value).map(([name, value]): [string, unknown] => {
    const schema = schemaOf(name);
    return [name, schema === undefined ? value : normalized(value, schema)];
  });
  return Object.fromEntries(members);
}

function withoutNulls(value: unknown): unknown {
  if (!isFields(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, value]) => value !== null));
}

/** The value that a text has in JSON, if it is of the wanted kind. */
function fromText(value: unknown, isWanted: (value: unknown) => boolean): unknown {
  if (typeof value !== "string") return value;
  try {
    const parsed: unknown = JSON.parse(value);
    return isWanted(parsed) ? parsed : value;
  } catch {
    return value;
  }
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
