// What the contracts say of limits and languages: a module of constants, and the table of docs/guides/limits.md.

/** The limits of all contracts. A limit that two contracts have must be the same in both. */
function limitsOf(documents) {
  const limits = {};
  for (const { "x-limits": own = {} } of documents)
    for (const [name, limit] of Object.entries(own)) {
      if ((limits[name]?.value ?? limit.value) !== limit.value)
        throw new Error(`The contracts disagree on the limit ${name}.`);
      limits[name] = limit;
    }
  return limits;
}

const languagesOf = (documents) => Object.assign({}, ...documents.map((document) => document["x-languages"]));

export function limitsModule(documents) {
  const limits = Object.entries(limitsOf(documents)).map(
    ([name, { description, unit, value }]) =>
      `  /** ${description}${unit === "" ? "" : `, in ${unit === "s" ? "seconds" : unit}`}. */\n  ${name}: ${value},\n`,
  );
  const languages = Object.entries(languagesOf(documents)).map(
    ([name, aliases]) => `  ${name}: ${JSON.stringify(aliases)},\n`,
  );
  return `
/** Limits that the contracts set. */
export const limits = {\n${limits.join("")}} as const;

/** The languages of code, and further names that are accepted for them. */
export const languages = {\n${languages.join("")}} as const;
`;
}

export function limitsTable(documents) {
  const rows = Object.values(limitsOf(documents)).map(
    ({ description, unit, value }) => `| ${description} | ${inWords(value, unit)} |`,
  );
  const languages = Object.entries(languagesOf(documents)).map(
    ([name, aliases]) => `| \`${name}\` | ${aliases.map((alias) => `\`${alias}\``).join(", ")} |`,
  );
  return [
    ["| limit | value |", "|---|---|", ...rows].join("\n"),
    ["| language | also accepted |", "|---|---|", ...languages].join("\n"),
  ].join("\n\n");
}

function inWords(value, unit) {
  if (unit === "bytes" && value % 1024 ** 2 === 0) return `${value / 1024 ** 2} MiB`;
  return `${value.toLocaleString("en-US")} ${unit}`.trim();
}
