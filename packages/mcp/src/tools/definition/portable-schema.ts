/** JSON Schema that every MCP client accepts. */
import * as z from "zod";

/**
 * Removes parts that some clients and models reject: `$schema`, `propertyNames`, and bounds that only say "safe
 * integer".
 */
export function portableSchema(schema: z.ZodObject, direction: "input" | "output"): Record<string, unknown> {
  const { $schema, ...portable } = z.toJSONSchema(schema, {
    io: direction,
    target: "draft-2020-12",
    override: ({ jsonSchema }) => {
      delete jsonSchema.propertyNames;
      // Remove the minimum length: every conversation pays for each word of the schema, and the tool's own message states the
      // rule when an argument breaks it.
      if (jsonSchema.type === "string") delete jsonSchema.minLength;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return portable;
}
