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
      // An open object is what a schema that says nothing of further keys allows anyway.
      if (isEmpty(jsonSchema.additionalProperties)) delete jsonSchema.additionalProperties;
      // Models choose no fields of a result, so the list does not say which of them are always there.
      if (direction === "output") delete jsonSchema.required;
      // Remove the minimum length: every conversation pays for each word of the schema, and the tool's own message states the
      // rule when an argument breaks it.
      if (jsonSchema.type === "string") delete jsonSchema.minLength;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return portable;
}

const isEmpty = (schema: unknown): boolean =>
  typeof schema === "object" && schema !== null && Object.keys(schema).length === 0;

/**
 * The schema of a tool's input as it is listed. Parameters that are accepted only because HOPX's clients send them are listed
 * only with the toolset `compatibility`: a model pays for each word of the list in every conversation.
 */
export function listedInput(input: z.ZodObject, { isCompatible }: { isCompatible: boolean }): JsonSchema {
  const schema = portableSchema(input, "input");
  if (isCompatible) return schema;
  const { vm_url, auth_token, disk_gb, include_auth_token, ...properties } = schema.properties as JsonSchema;
  return { ...schema, properties };
}
