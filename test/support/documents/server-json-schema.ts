/**
 * The MCP registry's schema of 2025-12-11 for server.json, limited to servers that are packages. Stricter than the
 * registry's: unknown names are errors, so that a typing mistake is found.
 */
const text = { type: "string" } as const;

const input = {
  type: "object",
  additionalProperties: false,
  required: ["name"],
  properties: {
    name: text,
    description: text,
    isRequired: { type: "boolean" },
    isSecret: { type: "boolean" },
    format: { enum: ["string", "number", "boolean", "filepath"] },
    default: text,
    choices: { type: "array", items: text },
    value: text,
    placeholder: text,
  },
} as const;

const npmPackage = {
  type: "object",
  additionalProperties: false,
  required: ["registryType", "identifier", "transport"],
  properties: {
    registryType: { const: "npm" },
    identifier: text,
    version: { type: "string", minLength: 1, pattern: "^\\d+\\.\\d+\\.\\d+(-[\\w.]+)?$" },
    runtimeHint: { enum: ["npx"] },
    transport: {
      type: "object",
      additionalProperties: false,
      required: ["type"],
      properties: { type: { const: "stdio" } },
    },
    environmentVariables: { type: "array", items: input },
  },
} as const;

export const serverJsonSchema = {
  type: "object",
  additionalProperties: false,
  required: ["$schema", "name", "description", "version"],
  properties: {
    $schema: { const: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json" },
    name: { type: "string", minLength: 3, maxLength: 200, pattern: "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$" },
    title: { type: "string", minLength: 1, maxLength: 100 },
    description: { type: "string", minLength: 1, maxLength: 100 },
    version: { type: "string", maxLength: 255, pattern: "^\\d+\\.\\d+\\.\\d+(-[\\w.]+)?$" },
    packages: { type: "array", minItems: 1, items: npmPackage },
  },
} as const;
