import type * as acorn from "acorn";
import { boundNames, childrenOf, type Edit, nodesOf } from "./syntax-tree.js";

/** An expression that throws what V8 throws for an assignment to a constant. */
const failure = `(() => { throw new TypeError("Assignment to constant variable."); })()`;

/**
 * Replaces assignments to a program's own constants by what they do: throw. Needed because the constants are declared with
 * `let`. Names that a function or block declares again are left alone there.
 */
export function constantAssignments(program: acorn.Program): Edit[] {
  const edits: Edit[] = [];
  const constants: ReadonlySet<string> = new Set(program.body.flatMap(constantsOf));
  const open = program.body.map((node: acorn.Node) => ({ node, visible: constants }));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node } = next;
    const target = targetOf(node);
    if (target?.type === "Identifier" && next.visible.has((target as acorn.Identifier).name)) {
      edits.push({ start: node.start, end: node.end, text: failure });
      continue;
    }
    const visible = opensScope(node) ? without(next.visible, declaredIn(node)) : next.visible;
    if (visible.size > 0) for (const child of childrenOf(node)) open.push({ node: child, visible });
  }
  return edits;
}

function constantsOf(statement: acorn.Program["body"][number]): string[] {
  const declaration = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
  if (declaration?.type !== "VariableDeclaration" || declaration.kind !== "const") return [];
  return declaration.declarations.flatMap(({ id }) => boundNames(id));
}

function targetOf(node: acorn.Node): acorn.Node | undefined {
  if (node.type === "AssignmentExpression") return (node as acorn.AssignmentExpression).left;
  if (node.type === "UpdateExpression") return (node as acorn.UpdateExpression).argument;
  return undefined;
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
