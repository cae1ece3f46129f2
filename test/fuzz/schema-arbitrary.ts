import fc from "fast-check";
import type { ContractDocument, Schema } from "../support/documents/contract-document.js";

/** Values that exist on the running server or mean something to it, by the name of the field that takes them. */
export type MeaningfulValues = Readonly<Record<string, fc.Arbitrary<unknown>>>;

/** Values that a contract's schemas allow. Fields with a name in `MeaningfulValues` get mostly those. */
export class SchemaArbitraries {
  constructor(
    private readonly document: ContractDocument,
    private readonly meaningful: MeaningfulValues,
  ) {}

  value(schema: Schema, name?: string, depth = 0): fc.Arbitrary<unknown> {
    const known = name === undefined ? undefined : this.meaningful[name];
    const made = this.#made(this.document.resolve(schema), depth);
    return known ? fc.oneof({ arbitrary: known, weight: 3 }, { arbitrary: made, weight: 1 }) : made;
  }

  #made(schema: Schema, depth: number): fc.Arbitrary<unknown> {
    if (schema.const !== undefined) return fc.constant(schema.const);
    if (schema.enum) return fc.constantFrom(...schema.enum);
    const choices = schema.oneOf ?? schema.anyOf;
    if (choices) return fc.oneof(...choices.map((choice) => this.value(choice, undefined, depth)));
    if (schema.allOf) {
      const { allOf, ...own } = schema;
      const parts: Schema[] = [...allOf, { ...own, type: "object" }];
      return fc
        .tuple(...parts.map((part) => this.value(part, undefined, depth)))
        .map((values) => Object.assign({}, ...values) as unknown);
    }
    const types = [schema.type ?? (schema.properties ? "object" : "string")].flat();
    return fc.oneof(...types.map((type) => this.#ofType(type, schema, depth)));
  }

  #ofType(type: string, schema: Schema, depth: number): fc.Arbitrary<unknown> {
    switch (type) {
      case "null":
        return fc.constant(null);
      case "boolean":
        return fc.boolean();
      case "integer":
        return integer(schema);
      case "number":
        return fc.oneof(
          integer(schema),
          fc.double({ ...range(schema), noNaN: true, noDefaultInfinity: true }),
        );
      case "array":
        return fc.array(this.value(schema.items ?? {}, undefined, depth + 1), {
          minLength: schema.minItems ?? 0,
          maxLength: Math.min(schema.maxItems ?? 4, 4),
        });
      case "object":
        return this.#object(schema, depth);
      default:
        return text(schema);
    }
  }

  #object(schema: Schema, depth: number): fc.Arbitrary<unknown> {
    const properties = Object.entries(schema.properties ?? {});
    const optional = depth > 3 ? properties.filter(([name]) => schema.required?.includes(name)) : properties;
    const record = fc.record(
      Object.fromEntries(optional.map(([name, property]) => [name, this.value(property, name, depth + 1)])),
      { requiredKeys: [...(schema.required ?? [])].filter((name) => name in (schema.properties ?? {})) },
    );
    const { additionalProperties: others } = schema;
    if (typeof others !== "object") return record;
    const names = schema.propertyNames ? text({ ...schema.propertyNames, type: "string" }) : fc.string();
    const dictionary = fc.dictionary(names, this.value(others, undefined, depth + 1), { maxKeys: 4 });
    return fc.tuple(dictionary, record).map(([more, own]) => ({ ...more, ...own }));
  }
}

const range = ({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: Schema) => ({
  min: minimum ?? (exclusiveMinimum === undefined ? -1e6 : exclusiveMinimum + 1),
  max: maximum ?? (exclusiveMaximum === undefined ? 1e9 : exclusiveMaximum - 1),
});

/** Integers that a schema allows. Often the smallest or the largest, because servers make most mistakes there. */
function integer(schema: Schema): fc.Arbitrary<number> {
  const { min, max } = range(schema);
  return fc.oneof(
    fc.constantFrom(Math.ceil(min), Math.floor(max)),
    fc.integer({ min: Math.ceil(min), max: Math.floor(max) }),
  );
}

function text(schema: Schema): fc.Arbitrary<string> {
  const minLength = schema.minLength ?? 0;
  const maxLength = schema.maxLength ?? 4096;
  if (schema.format === "date-time")
    return fc.constantFrom("2026-01-01T00:00:00Z", "2030-12-31T23:59:59.999+02:00");
  if (schema.pattern !== undefined) return matching(new RegExp(schema.pattern), minLength, maxLength);
  const some = fc.oneof(
    fc.string({ minLength, maxLength: Math.min(maxLength, 40) }),
    fc.string({ unit: "binary", minLength, maxLength: Math.min(maxLength, 20) }),
  );
  const examples = (schema.examples ?? []).filter((example) => typeof example === "string");
  return examples.length > 0 ? fc.oneof(fc.constantFrom(...examples), some) : some;
}

/** Strings of a length that match. Throws where hardly any does, instead of looking for one without end. */
function matching(pattern: RegExp, minLength: number, maxLength: number): fc.Arbitrary<string> {
  let misses = 0;
  return fc.stringMatching(pattern, { size: minLength > 4 ? "medium" : "small" }).filter(({ length }) => {
    const fits = length >= minLength && length <= maxLength;
    misses = fits ? 0 : misses + 1;
    if (misses > 1000) throw new Error(`No string of ${minLength} to ${maxLength} characters for ${pattern}`);
    return fits;
  });
}
