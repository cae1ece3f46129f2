import type { Operation } from "../contract/contract.js";

/**
 * Parses a query and converts the values to the contract's types. A value that cannot be converted stays text, so
 * that the validator reports it.
 */
export function readQuery(
  text: string,
  types: NonNullable<Operation["query"]>["types"],
): Record<string, unknown> {
  const parameters = new URLSearchParams(text);
  const query: Record<string, unknown> = {};
  for (const name of new Set(parameters.keys())) {
    query[name] =
      types[name] === "array" ? parameters.getAll(name) : convert(parameters.get(name) ?? "", types[name]);
  }
  return query;
}

function convert(text: string, type: string | undefined): unknown {
  if (type === "integer" || type === "number") return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
  if (type === "boolean" && (text === "true" || text === "1")) return true;
  if (type === "boolean" && (text === "false" || text === "0")) return false;
  return text;
}
