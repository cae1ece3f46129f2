import type * as acorn from "acorn";
import { Constants } from "./constant-assignments.js";
import { boundNames, type Edit, nodesOf } from "./syntax-tree.js";

type Parse = typeof acorn.parse;
type TopLevel = acorn.Program["body"][number];

/** Code without any of these words needs no rewriting. */
const rewritten = /\b(?:import|export|const|let|var|class|function)\b/;

/**
 * Rewrites JavaScript for the evaluation by V8 as in a debugger's console, which knows no modules, and where a name keeps the kind of
 * its first declaration for ever:
 *
 * - `import a, { b as c } from "d"` becomes `let { default: a, b: c } = await __import("d");`, and `import.meta` becomes
 *   `__importMeta`; `export` is left out.
 * - `const` becomes `let`, so that the name can be declared again. Assignments to it throw as before, until it is.
 * - A declaration of a name that earlier code has declared in the other way (`var` and `function`, or `let`, `const` and `class`) becomes an
 *   assignment.
 *
 * Line numbers stay the same, except in a function that becomes an assignment. Code that cannot be parsed is left as it is: its evaluation
 * reports the error.
 */
export class ReplCode {
  /** The names that earlier code has declared with `var` and `function`, and with `let`, `const`, `class` and `import`. */
  readonly #variables = new Set<string>();
  readonly #bindings = new Set<string>();
  readonly #constants = new Constants();

  async prepare(code: string): Promise<string> {
    if (!rewritten.test(code) && !this.#constants.mayBeAssignedBy(code)) return code;
    const { parse } = await import("acorn");
    const program = parsed(parse, code);
    if (!program) return code;
    const edits = [...moduleExpressions(program), ...this.#constants.assignments(program)];
    for (const statement of program.body) this.#statement(statement, code, edits);
    return applied(code, edits);
  }

  #statement(statement: TopLevel, code: string, edits: Edit[]): void {
    switch (statement.type) {
      case "ImportDeclaration":
        this.#import(statement, code, edits);
        return;
      case "ExportAllDeclaration":
        edits.push(importOf(statement, code, ""));
        return;
      case "ExportNamedDeclaration":
        if (statement.source) edits.push(importOf(statement, code, ""));
        else if (statement.declaration) {
          edits.push({ start: statement.start, end: statement.declaration.start, text: "" });
          this.#declaration(statement.declaration, code, edits);
        } else edits.push(blank(statement, code));
        return;
      case "ExportDefaultDeclaration":
        this.#exportDefault(statement, code, edits);
        return;
      default:
        this.#declaration(statement, code, edits);
    }
  }

  #import(statement: acorn.ImportDeclaration, code: string, edits: Edit[]): void {
    const names = statement.specifiers.map(({ local }) => local.name);
    const members = statement.specifiers.flatMap((specifier) => {
      if (specifier.type === "ImportNamespaceSpecifier") return [];
      const imported = specifier.type === "ImportDefaultSpecifier" ? "default" : nameOf(specifier.imported);
      return [`${imported}: ${specifier.local.name}`];
    });
    const everything = statement.specifiers.find(({ type }) => type === "ImportNamespaceSpecifier")?.local
      .name;
    const pattern = members.length > 0 ? `{ ${members.join(", ")} }` : undefined;
    const targets = [everything, pattern].filter((target) => target !== undefined);
    const [first, second] = targets;
    if (first === undefined) {
      edits.push(importOf(statement, code, ""));
      return;
    }
    const rest = second === undefined ? "" : `, ${second} = ${first}`;
    const isAssigned = this.#mustAssign(names);
    const edit = isAssigned
      ? importOf(statement, code, `;${this.#missing(names)}(${first} = `, `${rest})`)
      : importOf(statement, code, `let ${first} = `, rest);
    for (const name of names) this.#bindings.add(name);
    edits.push(edit);
  }

  #exportDefault(statement: acorn.ExportDefaultDeclaration, code: string, edits: Edit[]): void {
    const { declaration } = statement;
    if ("id" in declaration && declaration.id && declaration.type !== "FunctionExpression") {
      edits.push({ start: statement.start, end: declaration.start, text: "" });
      this.#declaration(declaration as TopLevel, code, edits);
      return;
    }
    edits.push(
      { start: statement.start, end: declaration.start, text: "void (" },
      { start: declaration.end, end: declaration.end, text: ")" },
      ...(code.slice(declaration.end, statement.end).includes(";") ? [] : [semicolon(declaration.end)]),
    );
  }

  #declaration(statement: TopLevel, code: string, edits: Edit[]): void {
    switch (statement.type) {
      case "VariableDeclaration":
        if (statement.kind === "var") this.#variable(statement, code, edits);
        else if (statement.kind === "const" || statement.kind === "let")
          this.#binding(statement, code, edits);
        return;
      case "ClassDeclaration": {
        const { name } = statement.id;
        if (this.#variables.has(name))
          edits.push(insertion(statement.start, `${name} = `), semicolon(statement.end));
        else this.#bindings.add(name);
        return;
      }
      case "FunctionDeclaration": {
        const { name } = statement.id;
        if (!this.#bindings.has(name)) {
          this.#variables.add(name);
          return;
        }
        const text = code.slice(statement.start, statement.end);
        edits.push(insertion(0, `${name} = ${text};`), blank(statement, code));
        return;
      }
      default:
    }
  }

  #binding(statement: acorn.VariableDeclaration, code: string, edits: Edit[]): void {
    const names = statement.declarations.flatMap(({ id }) => boundNames(id));
    if (!this.#mustAssign(names)) {
      if (statement.kind === "const") edits.push(keyword(statement, "const", "let  "));
      for (const name of names) this.#bindings.add(name);
      return;
    }
    edits.push(keyword(statement, statement.kind, `;${this.#missing(names)}`));
    assign(statement, edits, true);
    if (code[statement.end - 1] !== ";") edits.push(semicolon(statement.end));
    for (const name of names) if (!this.#variables.has(name)) this.#bindings.add(name);
  }

  #variable(statement: acorn.VariableDeclaration, code: string, edits: Edit[]): void {
    const names = statement.declarations.flatMap(({ id }) => boundNames(id));
    if (!names.some((name) => this.#bindings.has(name))) {
      for (const name of names) this.#variables.add(name);
      return;
    }
    const missing = names.filter((name) => !this.#bindings.has(name));
    for (const name of missing) this.#variables.add(name);
    edits.push(keyword(statement, "var", missing.length > 0 ? `var ${missing.join(", ")}; ` : ";"));
    assign(statement, edits, false);
    if (code[statement.end - 1] !== ";") edits.push(semicolon(statement.end));
  }

  /** Whether one of these names cannot be declared with `let`. */
  #mustAssign(names: readonly string[]): boolean {
    return names.some((name) => this.#variables.has(name));
  }

  /** The declaration of those names that were not declared, before an assignment to all of them. */
  #missing(names: readonly string[]): string {
    const missing = names.filter((name) => !this.#variables.has(name));
    return missing.length > 0 ? `let ${missing.join(", ")}; ` : "";
  }
}

function parsed(parse: Parse, code: string): acorn.Program | undefined {
  try {
    return parse(code, {
      ecmaVersion: "latest",
      allowAwaitOutsideFunction: true,
      allowHashBang: true,
      allowImportExportEverywhere: true,
    });
  } catch {
    return undefined;
  }
}

/** Replaces `import(…)` and `import.meta`, wherever they are. */
function* moduleExpressions(program: acorn.Program): Generator<Edit> {
  for (const node of nodesOf(program)) {
    if (node.type === "ImportExpression") yield keyword(node, "import", "__import");
    if (node.type === "MetaProperty" && (node as acorn.MetaProperty).meta.name === "import")
      yield { start: node.start, end: node.end, text: "__importMeta" };
  }
}

type FromModule = acorn.ImportDeclaration | acorn.ExportAllDeclaration | acorn.ExportNamedDeclaration;

/** Replaces a statement by the import of its module. */
function importOf(statement: FromModule, code: string, before: string, after = ""): Edit {
  const attributes = statement.attributes.map(({ key, value }) => `${nameOf(key)}: ${value.raw}`);
  const options = attributes.length > 0 ? `, { with: { ${attributes.join(", ")} } }` : "";
  const call = `await __import(${statement.source?.raw}${options})`;
  const { start, end } = statement;
  return { start, end, text: `${before}${call}${after};${linesOf(code.slice(start, end))}` };
}

/**
 * Makes the declarations of a statement assignments. Those of patterns begin with a parenthesis, so what is before them must end in a
 * semicolon: it would be called otherwise. `isReset`: whether one without a value assigns undefined. */
function assign({ declarations }: acorn.VariableDeclaration, edits: Edit[], isReset: boolean): void {
  for (const { id, init, start, end } of declarations) {
    if (init && id.type !== "Identifier") edits.push(insertion(start, "("), insertion(end, ")"));
    else if (!init && isReset) edits.push(insertion(end, " = undefined"));
  }
}

function applied(code: string, edits: readonly Edit[]): string {
  const pieces: string[] = [];
  let end = 0;
  const ordered = edits.toSorted((one, other) => one.start - other.start || one.end - other.end);
  for (const edit of ordered) {
    // Inside of a part that is replaced as a whole.
    if (edit.start < end) continue;
    pieces.push(code.slice(end, edit.start), edit.text);
    end = edit.end;
  }
  return [...pieces, code.slice(end)].join("");
}

const nameOf = (node: acorn.Identifier | acorn.Literal): string =>
  node.type === "Identifier" ? node.name : (node.raw ?? "");

const linesOf = (text: string): string => text.replaceAll(/[^\n]/g, "");

const blank = ({ start, end }: acorn.Node, code: string): Edit => ({
  start,
  end,
  text: linesOf(code.slice(start, end)),
});

const insertion = (at: number, text: string): Edit => ({ start: at, end: at, text });

const semicolon = (at: number): Edit => insertion(at, ";");

const keyword = ({ start }: acorn.Node, word: string, text: string): Edit => ({
  start,
  end: start + word.length,
  text,
});
