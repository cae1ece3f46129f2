import type * as acorn from "acorn";
import { boundNames, childrenOf, type Edit, identifiersIn, nodesOf } from "./syntax-tree.js";

/** Code without any of these assigns nothing. */
const assigning = /=|\+\+|--|\b(?:of|in)\b/;

/**
 * The constants of the code that a context has run. They are declared with `let`, so that later code can declare them in another
 * way, and therefore assignments to them are rewritten.
 */
export class Constants {
  readonly #known = new Set<string>();

  /** Whether the code may assign to constants of earlier code. */
  mayBeAssignedBy(code: string): boolean {
    return this.#known.size > 0 && assigning.test(code);
  }

  /** Makes assignments to constants throw, those of this code and of earlier code. Notes what this code declares. */
  assignments(program: acorn.Program): Edit[] {
    for (const statement of program.body) {
      const { isConstant, names } = declared(statement);
      for (const name of names) {
        if (isConstant) this.#known.add(name);
        else this.#known.delete(name);
      }
    }
    return constantAssignments(program, this.#known);
  }
}

/**
 * Replaces the names of constants, where values are assigned to them, by a property that has the same value and cannot be set. So
 * all else of an assignment happens as it would. Names that a function or block declares again are left alone there.
 */
function constantAssignments(program: acorn.Program, constants: ReadonlySet<string>): Edit[] {
  const edits: Edit[] = [];
  const open = program.body.map((node: acorn.Node) => ({ node, visible: constants }));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node } = next;
    const visible = opensScope(node) ? without(next.visible, declaredIn(node)) : next.visible;
    if (visible.size === 0) continue;
    for (const { name, start, end, isShorthand } of targetsOf(node))
      if (visible.has(name))
        edits.push({ start, end, text: `${isShorthand ? `${name}: ` : ""}${unassignable(name)}` });
    for (const child of childrenOf(node)) open.push({ node: child, visible });
  }
  return edits;
}

/** It begins with a word, because after a line without a semicolon a parenthesis would call the value of that line. */
const unassignable = (name: string): string =>
  `new class { get ${name}() { return ${name}; } set ${name}(_) { throw new TypeError("Assignment to constant variable."); } }().${name}`;

interface Declared {
  readonly isConstant: boolean;
  readonly names: readonly string[];
}

function declared(statement: acorn.Program["body"][number]): Declared {
  if (statement.type === "ImportDeclaration")
    return { isConstant: true, names: statement.specifiers.map(({ local }) => local.name) };
  const isExport =
    statement.type === "ExportNamedDeclaration" || statement.type === "ExportDefaultDeclaration";
  const declaration = isExport ? statement.declaration : statement;
  if (declaration?.type === "VariableDeclaration")
    return {
      isConstant: declaration.kind === "const",
      names: declaration.declarations.flatMap(({ id }) => boundNames(id)),
    };
  const isNamed = declaration?.type === "FunctionDeclaration" || declaration?.type === "ClassDeclaration";
  return { isConstant: false, names: isNamed && declaration.id ? [declaration.id.name] : [] };
}

/** The names that a node assigns to, without those of the nodes below it. */
function targetsOf(node: acorn.Node): ReturnType<typeof identifiersIn> {
  switch (node.type) {
    case "AssignmentExpression":
      return identifiersIn((node as acorn.AssignmentExpression).left);
    case "UpdateExpression":
      return identifiersIn((node as acorn.UpdateExpression).argument);
    case "ForInStatement":
    case "ForOfStatement": {
      const { left } = node as acorn.ForInStatement | acorn.ForOfStatement;
      return left.type === "VariableDeclaration" ? [] : identifiersIn(left);
    }
    default:
      return [];
  }
}

const opensScope = ({ type }: acorn.Node): boolean => /Function|Class|^For|^Catch|^Block|^Switch/.test(type);

/** The names that are declared anywhere in a node. */
function* declaredIn(root: acorn.Node): Generator<string> {
  for (const node of nodesOf(root)) {
    if (!/^VariableDeclarator$|Function|Class|^Catch/.test(node.type)) continue;
    const { id, param, params = [] } = node as { id?: unknown; param?: unknown; params?: unknown[] };
    for (const pattern of [id, param, ...params]) if (pattern) yield* boundNames(pattern as acorn.Pattern);
  }
}

function without(names: ReadonlySet<string>, others: Iterable<string>): ReadonlySet<string> {
  const left = new Set(names);
  for (const name of others) left.delete(name);
  return left;
}
