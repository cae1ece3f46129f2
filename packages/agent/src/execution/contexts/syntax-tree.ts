import type { Node, Pattern } from "acorn";

/** The names that a pattern binds: of `{ a, b: [c, ...d] }`, `a`, `c` and `d`. */
export function boundNames(pattern: Pattern): string[] {
  switch (pattern.type) {
    case "Identifier":
      return [pattern.name];
    case "ObjectPattern":
      return pattern.properties.flatMap((property) =>
        boundNames(property.type === "Property" ? property.value : property.argument),
      );
    case "ArrayPattern":
      return pattern.elements.flatMap((element) => (element ? boundNames(element) : []));
    case "AssignmentPattern":
      return boundNames(pattern.left);
    case "RestElement":
      return boundNames(pattern.argument);
    default:
      return [];
  }
}

/** A replacement of a part of the code. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** A node and all below it. Not by recursion: a long sum is a deep tree. */
export function* nodesOf(root: Node): Generator<Node> {
  const open = [root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    yield node;
    for (const child of childrenOf(node)) open.push(child);
  }
}

/** The nodes of a syntax tree directly below another one. */
export function* childrenOf(node: Node): Generator<Node> {
  for (const value of Object.values(node))
    for (const item of Array.isArray(value) ? value : [value])
      if (typeof item === "object" && item !== null && typeof item.type === "string") yield item;
}
