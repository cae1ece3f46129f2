/** JSON Schema as every MCP client takes it. */
import * as z from "zod";

/** Without what some clients and models refuse: `$schema`, `propertyNames`, bounds that only say "safe integer". */
export function portableSchema(schema: z.ZodObject, direction: "input" | "output"): Record<string, unknown> {
  const { $schema, ...portable } = z.toJSONSchema(schema, {
    io: direction,
    target: "draft-2020-12",
    override: ({ jsonSchema }) => {
      delete jsonSchema.propertyNames;
      // Every conversation would pay for it, and the tool says it when it matters.
      if (jsonSchema.type === "string") delete jsonSchema.minLength;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return portable;
}
