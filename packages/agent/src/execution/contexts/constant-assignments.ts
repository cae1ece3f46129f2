import type * as acorn from "acorn";
import { boundNames, childrenOf } from "./syntax-tree.js";

/** An expression that throws what V8 throws for an assignment to a constant. */
const failure = `(() => { throw new TypeError("Assignment to constant variable."); })()`;

/**
 * Replaces assignments to a program's own constants by what they do: throw. Needed because the constants are declared with
 * `let`. Names that a function or block declares again are left alone there.
 */
export function constantAssignments(program: acorn.Program): { start: number; end: number; text: string }[] {
  const constants = new Set(program.body.flatMap(constantsOf));
  if (constants.size === 0) return [];
  return program.body
    .flatMap((statement) => [...assignments(statement, constants)])
    .map(({ start, end }) => ({ start, end, text: failure }));
}

function constantsOf(statement: acorn.Program["body"][number]): string[] {
  const declaration = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
  if (declaration?.type !== "VariableDeclaration" || declaration.kind !== "const") return [];
  return declaration.declarations.flatMap(({ id }) => boundNames(id));
}

function* assignments(node: acorn.Node, constants: ReadonlySet<string>): Generator<acorn.Node> {
  const target = targetOf(node);
  if (target?.type === "Identifier" && constants.has((target as acorn.Identifier).name)) {
    yield node;
    return;
  }
  const visible = opensScope(node) ? without(constants, declaredIn(node)) : constants;
  if (visible.size === 0) return;
  for (const child of childrenOf(node)) yield* assignments(child, visible);
}

function targetOf(node: acorn.Node): acorn.Node | undefined {
  if (node.type === "AssignmentExpression") return (node as acorn.AssignmentExpression).left;
  if (node.type === "UpdateExpression") return (node as acorn.UpdateExpression).argument;
  return undefined;
}

const opensScope = ({ type }: acorn.Node): boolean => /Function|Class|^For|^Catch|^Block|^Switch/.test(type);

/** The names that are declared anywhere below a node. */
function* declaredIn(node: acorn.Node): Generator<string> {
  const { id, param, params = [] } = node as { id?: unknown; param?: unknown; params?: unknown[] };
  const declares = /^VariableDeclarator$|Function|Class|^Catch/.test(node.type);
  for (const pattern of declares ? [id, param, ...params] : [])
    if (pattern) yield* boundNames(pattern as acorn.Pattern);
  for (const child of childrenOf(node)) yield* declaredIn(child);
}

function without(names: ReadonlySet<string>, others: Iterable<string>): ReadonlySet<string> {
  const left = new Set(names);
  for (const name of others) left.delete(name);
  return left;
}
