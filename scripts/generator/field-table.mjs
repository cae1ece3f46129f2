// Writes the fields of a schema as a Markdown table. Each row is [name, type, description, schema].

export function table(title, rows) {
  const lines = rows.map(([name, type, description, source]) => {
    const facts = [
      text(description),
      limits(source.schema ?? source),
      source["x-extension"] && "*Extension.*",
    ];
    return `| \`${name}\` | ${type} | ${facts.filter(Boolean).join(" ").replaceAll("|", "\\|")} |`;
  });
  return [`| ${title} | type | |`, "|---|---|---|", ...lines].join("\n");
}

function limits({ minimum, maximum, default: value }) {
  const range =
    minimum !== undefined && maximum !== undefined
      ? `${minimum} to ${maximum}.`
      : minimum !== undefined
        ? `At least ${minimum}.`
        : maximum !== undefined && `At most ${maximum}.`;
  return [range, value !== undefined && `Default: \`${JSON.stringify(value)}\`.`].filter(Boolean).join(" ");
}

export function typeOf(schema = {}) {
  if (schema.$ref) {
    const name = schema.$ref.split("/").at(-1);
    return `[${name}](#${name.toLowerCase()})`;
  }
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices?.every((choice) => choice.$ref || choice.type)) return choices.map(typeOf).join(" or ");
  if (schema.allOf) return schema.allOf.map(typeOf).join(" and ");
  if (schema.type === "array") return `list of ${typeOf(schema.items)}`;
  if (schema.additionalProperties?.type) return `map of ${schema.additionalProperties.type}`;
  return [schema.type ?? "any"].flat().join(" or ");
}

export const text = (description = "") => description.trim().replaceAll(/\s*\n\s*/g, " ");
