const methods = ["get", "put", "post", "delete", "patch"];

/** The keywords of JSON Schema 2020-12 that affect validation. All others only describe a value. */
const keywords = new Set(
  `type enum const properties required items prefixItems additionalProperties patternProperties propertyNames
  minProperties maxProperties minItems maxItems uniqueItems minLength maxLength pattern minimum maximum
  exclusiveMinimum exclusiveMaximum multipleOf format allOf anyOf oneOf not default $ref`.split(/\s+/),
);
const mapsOfSchemas = new Set(["properties", "patternProperties"]);
const values = new Set(["enum", "const", "default", "required", "type"]);

/** Follows `$ref`s in a document. */
export function resolve(document, node) {
  let at = node;
  while (at?.$ref) {
    const steps = at.$ref
      .slice(2)
      .split("/")
      .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
    at = steps.reduce((parent, step) => parent?.[step], document);
  }
  return at;
}

/**
 * Every operation with its parameters resolved. Operations whose path has no parameter come first, so that a router may
 * take the first match.
 */
export function operationsOf(document) {
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    methods
      .filter((method) => item[method])
      .map((method) => {
        const operation = item[method];
        if (!operation.operationId) throw new Error(`${method.toUpperCase()} ${path} has no operationId`);
        const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])].map((p) =>
          resolve(document, p),
        );
        return {
          operationId: operation.operationId,
          method: method.toUpperCase(),
          path,
          operation,
          parameters,
        };
      }),
  );
  for (const [name, schema] of Object.entries(document.components?.schemas ?? {}))
    assertExtensionsOptional(name, schema);
  return operations.sort((a, b) => variables(a.path) - variables(b.path));
}

/** All properties of a schema, those of `$ref` and `allOf` included. */
export function propertiesOf(document, schema) {
  const resolved = resolve(document, schema);
  const own = Object.entries(resolved.properties ?? {}).map(([name, property]) => [
    name,
    { ...resolve(document, property), ...property },
  ]);
  const inherited = (resolved.allOf ?? []).map((part) => propertiesOf(document, part));
  return Object.assign({}, ...inherited, Object.fromEntries(own));
}

/** A schema with only the keywords that affect validation, and with references to the shared definitions. */
export function validationSchema(document, schema) {
  if (typeof schema !== "object" || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map((part) => validationSchema(document, part));
  const kept = Object.entries(schema).filter(([key]) => keywords.has(key));
  return Object.fromEntries(
    kept.map(([key, value]) => {
      if (key === "$ref") return [key, value.replace("#/components/schemas/", "contract#/$defs/")];
      if (values.has(key)) return [key, value];
      if (!mapsOfSchemas.has(key)) return [key, validationSchema(document, value)];
      const inner = Object.entries(value).map(([name, part]) => [
        name,
        validationSchema(document, withDefault(document, part)),
      ]);
      return [key, Object.fromEntries(inner)];
    }),
  );
}

/**
 * A property with the default of the schema that it refers to: a validator fills in only defaults of the property
 * itself.
 */
function withDefault(document, property) {
  const { default: value } = resolve(document, property);
  return value === undefined ? property : { default: value, ...property };
}

function assertExtensionsOptional(name, schema) {
  for (const [property, inner] of Object.entries(schema.properties ?? {})) {
    if (inner["x-extension"] && schema.required?.includes(property)) {
      throw new Error(`${name}.${property} is marked x-extension, so it must be optional`);
    }
  }
}

const variables = (path) => path.split("{").length;
