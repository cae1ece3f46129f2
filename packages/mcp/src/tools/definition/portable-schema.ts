/** JSON Schema that every MCP client accepts. */
import * as z from "zod";

type JsonSchema = Record<string, unknown>;

/** Schemas that were converted before: every list of tools asks for the same ones. */
const converted = {
  input: new WeakMap<z.ZodObject, JsonSchema>(),
  output: new WeakMap<z.ZodObject, JsonSchema>(),
};

/** A schema as JSON Schema, without the parts that some clients and models reject: `$schema`, `propertyNames`, and bounds that only say "safe integer". */
export function portableSchema(schema: z.ZodObject, direction: "input" | "output"): JsonSchema {
  const known = converted[direction].get(schema) ?? convert(schema, direction);
  converted[direction].set(schema, known);
  return known;
}

function convert(schema: z.ZodObject, direction: "input" | "output"): JsonSchema {
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
