import type { HonoRequest } from "hono";
import type { Operation } from "../contract.js";

/** The query as the contract types it; what cannot be converted stays text, for the validator to name. */
export function readQuery(
  request: HonoRequest,
  types: NonNullable<Operation["query"]>["types"],
): Record<string, unknown> {
  const given = request.query();
  const query: Record<string, unknown> = {};
  for (const name of Object.keys(given)) {
    query[name] = types[name] === "array" ? request.queries(name) : convert(given[name] ?? "", types[name]);
  }
  return query;
}

function convert(text: string, type: string | undefined): unknown {
  if (type === "integer" || type === "number") return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
  if (type === "boolean" && (text === "true" || text === "1")) return true;
  if (type === "boolean" && (text === "false" || text === "0")) return false;
  return text;
}
