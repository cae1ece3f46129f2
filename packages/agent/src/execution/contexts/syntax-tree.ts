import type { Expression, Node, Pattern } from "acorn";

/** A name in a pattern, and where it stands. */
interface PatternName {
  readonly name: string;
  readonly start: number;
  readonly end: number;
  /** Whether it is also the name of the property, as in `{ a }`. */
  readonly isShorthand: boolean;
}

/** The names in a pattern, those of properties left out: of `{ a, b: [c, ...d] }`, `a`, `c` and `d`. */
export function identifiersIn(pattern: Pattern | Expression, isShorthand = false): PatternName[] {
  switch (pattern.type) {
    case "Identifier":
      return [{ name: pattern.name, start: pattern.start, end: pattern.end, isShorthand }];
    case "ObjectPattern":
      return pattern.properties.flatMap((property) =>
        property.type === "Property"
          ? identifiersIn(property.value, property.shorthand)
          : identifiersIn(property.argument),
      );
    case "ArrayPattern":
      return pattern.elements.flatMap((element) => (element ? identifiersIn(element) : []));
    case "AssignmentPattern":
      return identifiersIn(pattern.left, isShorthand);
    case "RestElement":
      return identifiersIn(pattern.argument);
    default:
      return [];
  }
}

/** The names that a pattern binds. */
export const boundNames = (pattern: Pattern): string[] => identifiersIn(pattern).map(({ name }) => name);

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
