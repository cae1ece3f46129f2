/**
 * Rewrites `import` statements as expressions, because code that V8 evaluates piece by piece may not contain import
 * statements: `import a, { b as c } from "d"` becomes `const { default: a, b: c } = await __import("d");`. Line
 * numbers stay the same.
 */
export async function withoutImportStatements(code: string): Promise<string> {
  if (!/\bimport\b/.test(code)) return code;
  const { init, parse } = await import("es-module-lexer");
  await init;
  const pieces: string[] = [];
  let end = 0;
  for (const { ss: start, se, s, e, d: parenthesis, a: attributes, n: specifier } of importsOf(parse, code)) {
    if (start < end) continue;
    pieces.push(code.slice(end, start));
    if (parenthesis >= 0) {
      pieces.push("__import");
      end = start + "import".length;
    } else if (parenthesis === -1 && specifier !== undefined) {
      const options = attributes >= 0 ? `, { with: ${code.slice(attributes, se)} }` : "";
      const call = `await __import(${code.slice(s - 1, e + 1)}${options})`;
      const statement = code.slice(start, se);
      const lines = "\n".repeat(statement.split("\n").length - 1);
      pieces.push(`${declaration(code.slice(start, s - 1), call)};${lines}`);
      end = se;
    } else end = start;
  }
  pieces.push(code.slice(end));
  return pieces.join("");
}

function importsOf(parse: typeof import("es-module-lexer").parse, code: string) {
  try {
    return parse(code)[0];
  } catch {
    // The code has a syntax error. Leave it unchanged: evaluating it will report the error.
    return [];
  }
}

/** The declaration that replaces an import statement. `head` is the part of the statement before the specifier. */
function declaration(head: string, call: string): string {
  const clause = head
    .replaceAll(/\/\*.*?\*\/|\/\/[^\n]*/gs, "")
    .replace(/^import\b/, "")
    .replace(/\bfrom\s*$/, "")
    .trim();
  if (clause === "") return call;
  const everything = /\*\s*as\s+([^\s,]+)/.exec(clause)?.[1];
  const named = /\{(.*)\}/s.exec(clause)?.[1] ?? "";
  const main = /^[^\s,{*]+/.exec(clause)?.[0];
  const names = named
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "")
    .map((name) => name.replace(/\sas\s/, ": "));
  const pattern = [...(main === undefined ? [] : [`default: ${main}`]), ...names].join(", ");
  if (everything === undefined) return `const { ${pattern} } = ${call}`;
  return main === undefined
    ? `const ${everything} = ${call}`
    : `const ${everything} = ${call}, { ${pattern} } = ${everything}`;
}
