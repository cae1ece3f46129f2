import { Ajv2020 } from "ajv/dist/2020.js";
import standaloneCode from "ajv/dist/standalone/index.js";
import { operationsOf, propertiesOf, resolve, validationSchema } from "./openapi.mjs";

const methodsWithoutBody = new Set(["GET", "HEAD"]);

/** The pattern that a text with a `format` must match. Formats that are not in this table are not checked. */
const formats = {
  uri: /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#]+\S*$/i,
  "date-time": /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i,
};
const describingFormats = [
  "int32",
  "int64",
  "float",
  "double",
  "byte",
  "binary",
  "password",
  "ipv4",
  "ipv6",
  "hostname",
  "email",
];

/**
 * The table of a contract's operations, and the types of the validators that the table refers to. Both files are
 * committed.
 */
export function contractModules(name, document) {
  const title = pascal(name);
  const constant = `${title[0].toLowerCase()}${title.slice(1)}Contract`;
  const { validators, operations } = compile(document);
  const defaults = operations.flatMap(({ operationId, defaulted }) => {
    const kinds = Object.entries(defaulted).filter(([, names]) => names.length > 0);
    const text = kinds
      .map(([kind, names]) => `${kind}: ${names.map((n) => JSON.stringify(n)).join(" | ")}`)
      .join("; ");
    return text ? [`    ${operationId}: { ${text} };`] : [];
  });
  const open = operations.filter((operation) => !operation.authenticated);

  return {
    [`${name}-contract.ts`]: [
      `import type { ${title}Operations } from "@cloud-sandbox/protocol";`,
      `import * as validators from "#validators/${name}";`,
      `import type { Contract } from "../router/contract.js";`,
      "",
      `export interface ${title}Contract {`,
      `  operations: ${title}Operations;`,
      "  defaults: {",
      ...defaults,
      "  };",
      `  public: ${open.length > 0 ? open.map(({ operationId }) => JSON.stringify(operationId)).join(" | ") : "never"};`,
      "}",
      "",
      `export const ${constant}: Contract<${title}Contract> = {`,
      `  name: ${JSON.stringify(name)},`,
      "  operations: [",
      ...operations.map(({ code }) => `    ${code},`),
      "  ],",
      "};",
      "",
    ].join("\n"),
    [`${name}-validators.d.ts`]: [
      `import type { Validate } from "../router/contract.js";`,
      "",
      ...validators.names().map((validator) => `export declare const ${validator}: Validate;`),
      "",
    ].join("\n"),
  };
}

/**
 * A contract's validators as a JavaScript module without imports, so that servers need no schema library and compile
 * nothing at their start. The build writes the module, and it is not committed.
 */
export function validatorsModule(document) {
  return compile(document).validators.code();
}

function compile(document) {
  const validators = new Validators(document);
  const operations = operationsOf(document).map((operation) => describe(document, operation, validators));
  return { validators, operations };
}

function describe(document, { operationId, method, path, operation, parameters }, validators) {
  const statuses = Object.keys(operation.responses).filter((status) => status.startsWith("2"));
  // The status of the usual answer: 201 if the operation creates something, otherwise the first documented success.
  const success = statuses.includes("201") ? "201" : statuses[0];
  const security = operation.security ?? document.security ?? [];
  const authenticated = security.length > 0 && security.every((scheme) => Object.keys(scheme).length > 0);
  const query = parameters.filter((parameter) => parameter.in === "query");
  const fields = [
    `operationId: ${JSON.stringify(operationId)}`,
    `method: ${JSON.stringify(method)}`,
    `path: ${JSON.stringify(path)}`,
    `authenticated: ${authenticated}`,
    `status: ${Number(success ?? 101)}`,
  ];
  if (success === undefined) fields.push("upgrade: true");
  if (operation["x-client-frames"])
    fields.push(`frames: ${clientFrames(document, operation["x-client-frames"], validators)}`);
  const defaulted = { query: [], body: [] };

  if (query.length > 0) {
    const schema = {
      type: "object",
      properties: Object.fromEntries(query.map((parameter) => [parameter.name, parameter.schema ?? {}])),
      required: query.filter((parameter) => parameter.required).map((parameter) => parameter.name),
    };
    const types = Object.fromEntries(
      query.map(({ name, schema }) => [name, resolve(document, schema).type ?? "string"]),
    );
    defaulted.query = defaultedIn(document, schema);
    fields.push(
      `query: { validate: validators.${validators.add(`${operationId}Query`, schema)}, types: ${literal(types)}, units: ${units(document, schema)} }`,
    );
  }

  const body = resolve(document, operation.requestBody);
  if (body?.content && !methodsWithoutBody.has(method)) {
    const media = Object.keys(body.content);
    const schema = body.content["application/json"]?.schema;
    if (schema && media.length === 1) {
      defaulted.body = defaultedIn(document, schema);
      const validator = validators.add(`${operationId}Body`, schema);
      fields.push(
        `body: { validate: validators.${validator}, required: ${body.required === true}, units: ${units(document, schema)} }`,
      );
    }
  }
  return { operationId, authenticated, defaulted, code: `{ ${fields.join(", ")} }` };
}

/**
 * The frames that a client may send over a WebSocket: a validator for each kind, by the value of its `type` or
 * `action`.
 */
function clientFrames(document, schema, validators) {
  const { oneOf, anyOf } = resolve(document, schema);
  const branches = oneOf ?? anyOf ?? [schema];
  const entries = branches.flatMap((branch) => {
    const properties = propertiesOf(document, branch);
    const kind = properties.type ?? properties.action;
    const input = `{ validate: validators.${validators.addFrame(branch)}, units: ${units(document, branch)} }`;
    return (kind.enum ?? [kind.const]).map((name) => `${JSON.stringify(name)}: ${input}`);
  });
  return `{ ${entries.join(", ")} }`;
}

/** The compiled validators of a contract, and their names. */
class Validators {
  #names = {};

  constructor(document) {
    this.document = document;
    this.ajv = new Ajv2020({
      allErrors: true,
      messages: false,
      strictTypes: false,
      strictRequired: false,
      useDefaults: true,
      formats: allFormats(),
      code: { source: true, esm: true, lines: true },
    });
    // No contract says what holds for fields that are left over, so validators need not note which fields they have seen.
    this.ajv.opts.unevaluated = false;
    const schemas = Object.entries(document.components?.schemas ?? {});
    const definitions = Object.fromEntries(
      schemas.map(([name, schema]) => [name, validationSchema(document, schema)]),
    );
    this.ajv.addSchema({ $id: "contract", $defs: definitions });
  }

  add(name, schema) {
    this.ajv.addSchema({ $id: name, ...validationSchema(this.document, schema) });
    this.#names[name] = name;
    return name;
  }

  /** Adds a validator for frames. Operations that take the same frames share it. */
  addFrame(reference) {
    const schema = reference.$ref.split("/").at(-1);
    const name = `frame${schema.replace(/Frame$/, "")}`;
    return this.#names[name] ?? this.add(name, reference);
  }

  names() {
    return Object.keys(this.#names);
  }

  code() {
    if (this.names().length === 0) return "";
    const code = standaloneCode(this.ajv, this.#names)
      .replace(/^"use strict";/, "")
      .replace(/\/\*# sourceURL=.*?\*\/;\n/g, "")
      .replaceAll(`require("ajv/dist/runtime/ucs2length").default`, "codePoints");
    const rest = /require\([^)]*\)/.exec(code);
    if (rest)
      throw new Error(
        `The contract uses a keyword whose validator needs ${rest[0]}: teach scripts/generator to inline it.`,
      );
    return code.includes("codePoints")
      ? `const codePoints = (text) => text.length - (text.match(/[\\ud800-\\udbff][\\udc00-\\udfff]/g)?.length ?? 0);\n${code}`
      : code;
  }
}

function allFormats() {
  return { ...formats, ...Object.fromEntries(describingFormats.map((name) => [name, true])) };
}

function defaultedIn(document, schema) {
  return Object.entries(propertiesOf(document, schema))
    .filter(([, property]) => property.default !== undefined)
    .map(([name]) => name);
}

/** The units of numeric fields: the declared `x-unit`, or the first unit that the field's description names. */
function units(document, schema) {
  const named = Object.entries(propertiesOf(document, schema)).flatMap(([name, property]) => {
    const unit =
      property["x-unit"] ??
      (isNumeric(property) &&
        /\b(milliseconds|seconds|bytes|megabytes|gigabytes)\b/i.exec(property.description ?? "")?.[1]);
    return unit ? [[name, unit.toLowerCase()]] : [];
  });
  return literal(Object.fromEntries(named));
}

const isNumeric = (schema) => [schema.type].flat().some((type) => type === "integer" || type === "number");
const literal = (record) =>
  `{ ${Object.entries(record)
    .map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)}`)
    .join(", ")} }`.replace("{  }", "{}");
const pascal = (name) =>
  name
    .split("-")
    .map((word) => word[0].toUpperCase() + word.slice(1))
    .join("");
