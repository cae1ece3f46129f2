import { table, text, typeOf } from "./field-table.mjs";
import { operationsOf, resolve } from "./openapi.mjs";

/** The reference page of a contract: every operation with its parameters and answers, then every schema. */
export function referencePage(document) {
  const tags = (document.tags ?? []).map(({ name, description }) => [
    `## ${name}`,
    description,
    ...operationsOf(document)
      .filter(({ operation }) => operation.tags?.[0] === name)
      .map((entry) => operationSection(document, entry)),
  ]);
  const schemas = Object.entries(document.components?.schemas ?? {}).map(([name, schema]) =>
    schemaSection(document, name, schema),
  );
  return [
    `# ${document.info.title}`,
    document.info.description?.trim(),
    ...tags.flat(),
    ...errorSection(document),
    "## Schemas",
    ...schemas,
  ]
    .filter(Boolean)
    .join("\n\n")
    .concat("\n");
}

function operationSection(document, { method, path, parameters, operation }) {
  const body = operation.requestBody && resolve(document, operation.requestBody);
  const rows = parameters.map((each) => [
    each.name,
    `${each.in}, ${typeOf(each.schema)}`,
    each.description,
    each,
  ]);
  return [
    `### ${method} ${path}`,
    `${operation.summary}.${operation["x-extension"] ? " *Extension.*" : ""} (\`${operation.operationId}\`)`,
    operation.description?.trim(),
    rows.length > 0 && table("parameter", rows),
    body &&
      `Body: ${Object.entries(body.content)
        .map(([media, { schema }]) => `${typeOf(schema)} as \`${media}\``)
        .join(", or ")}.`,
    answers(document, operation.responses),
  ]
    .filter(Boolean)
    .join("\n\n");
}

/**
 * The answers of an operation: the fields of successes, but only the statuses of errors, because errors mean the same
 * everywhere.
 */
function answers(document, responses) {
  const statuses = Object.entries(responses).map(([status, response]) => [
    status,
    resolve(document, response),
  ]);
  const good = statuses.filter(([status]) => status < "400");
  const bad = statuses.filter(([status]) => status >= "400").map(([status]) => `[${status}](#errors)`);
  const shapes = good.map(([status, { description, content }]) => {
    const shape = Object.values(content ?? {}).map(({ schema }) => typeOf(schema))[0];
    return `${status} ${shape ?? ""}: ${text(description)}`.replace(" :", ":");
  });
  return `Answers ${shapes.join(" ")}${bad.length > 0 ? ` Errors: ${bad.join(", ")}.` : ""}`;
}

/** The section that explains each error status, from the descriptions of the contract's answers. */
function errorSection(document) {
  const statuses = new Map();
  for (const { operation } of operationsOf(document)) {
    for (const [status, response] of Object.entries(operation.responses)) {
      const meaning = text(resolve(document, response).description);
      if (status >= "400") statuses.set(status, new Set(statuses.get(status)).add(meaning));
    }
  }
  const rows = [...statuses].sort(([a], [b]) => a - b);
  return [
    "## Errors",
    [
      "| status | |",
      "|---|---|",
      ...rows.map(([status, meanings]) => `| ${status} | ${[...meanings].join(" ")} |`),
    ].join("\n"),
  ];
}

function schemaSection(document, name, schema) {
  const parts = (schema.allOf ?? [schema]).map((part) => (part.$ref ? { inherits: part } : part));
  const inherited = parts.filter(({ inherits }) => inherits).map(({ inherits }) => typeOf(inherits));
  const rows = parts.flatMap(({ properties = {}, required = [] }) =>
    Object.entries(properties).map(([field, value]) => [
      field,
      typeOf(value) + (required.includes(field) ? ", required" : ""),
      value.description ?? resolve(document, value).description,
      value,
    ]),
  );
  return [
    `### ${name}`,
    text(schema.description),
    inherited.length > 0 && `All of ${inherited.join(" and ")}.`,
    schema.enum && `One of ${schema.enum.map((value) => `\`${value}\``).join(", ")}.`,
    rows.length > 0 && table("field", rows),
  ]
    .filter(Boolean)
    .join("\n\n");
}
