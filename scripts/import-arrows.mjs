import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import ts from "typescript";

const names = {
  protocol: "@cloud-sandbox/protocol",
  "server-kit": "@cloud-sandbox/server-kit",
  client: "cloud-sandbox",
  agent: "cloud-sandbox-agent",
  local: "cloud-sandbox-local",
  mcp: "cloud-sandbox-mcp",
  cli: "cloud-sandbox-cli",
};

/**
 * `lazily` means by `await import()`, so that whoever does not need it never loads it; types are free there. `below` names
 * what only one folder of a package's source may import.
 */
const arrows = {
  protocol: { freely: [], lazily: [] },
  "server-kit": { freely: ["protocol"], lazily: [] },
  client: { freely: ["protocol"], lazily: [], below: { testing: ["server-kit"] } },
  agent: { freely: ["protocol", "server-kit"], lazily: [] },
  local: { freely: ["protocol", "server-kit"], lazily: [] },
  mcp: { freely: ["client"], lazily: [] },
  cli: { freely: ["client"], lazily: ["mcp"] },
};

/** The one import whose name is not written out, so that no bundler follows it (docs/decisions/0031-a-client-without-a-key.md). */
const unwritten = "packages/client/src/config/local-backend.ts";

/** A line for every import under `root` that breaks an arrow. */
export function brokenArrows(root) {
  return Object.keys(arrows).flatMap((owner) => {
    const home = join(root, "packages", owner);
    return sourceFiles(join(home, "src")).flatMap((file) => check(root, owner, home, file));
  });
}

function sourceFiles(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true })
    .filter((file) => /\.[cm]?[jt]sx?$/.test(file))
    .map((file) => join(folder, file));
}

function check(root, owner, home, file) {
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true);
  return importsOf(source).flatMap(({ specifier, kind, position }) => {
    const reason =
      specifier === undefined
        ? relative(root, file) !== unwritten && "its name must be written out."
        : objection(owner, home, file, specifier, kind);
    if (!reason) return [];
    const { line } = source.getLineAndCharacterOfPosition(position);
    const what = specifier === undefined ? "what it computes" : `"${specifier}"`;
    return `${relative(root, file)}:${line + 1} imports ${what}: ${reason}`;
  });
}

/** Why an import may not be, or `undefined`. */
function objection(owner, home, file, specifier, kind) {
  if (specifier.startsWith(".") || specifier.startsWith("/")) {
    const inside = resolve(dirname(file), specifier).startsWith(home + sep);
    return inside ? undefined : "a path never leaves its package.";
  }
  const target = Object.keys(names).find(
    (name) => specifier === names[name] || specifier.startsWith(`${names[name]}/`),
  );
  if (target === undefined || arrows[owner].freely.includes(target)) return undefined;
  const folder = Object.entries(arrows[owner].below ?? {}).find(([, targets]) =>
    targets.includes(target),
  )?.[0];
  if (folder !== undefined)
    return file.startsWith(join(home, "src", folder) + sep)
      ? undefined
      : `${owner} may import ${target} only below src/${folder}.`;
  if (!arrows[owner].lazily.includes(target)) return `${owner} may not import ${target}.`;
  return kind === "static"
    ? `${owner} may import ${target} only by await import("${specifier}").`
    : undefined;
}

/** Every module specifier of a file: `static` where loading the file loads the module. */
function importsOf(source) {
  const found = [];
  const add = (literal, kind) => {
    if (literal && ts.isStringLiteralLike(literal))
      found.push({ specifier: literal.text, kind, position: literal.getStart() });
  };
  const visit = (node) => {
    if (ts.isImportDeclaration(node))
      add(node.moduleSpecifier, node.importClause?.isTypeOnly ? "type" : "static");
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly ? "type" : "static");
    else if (ts.isExternalModuleReference(node)) add(node.expression, "static");
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument))
      add(node.argument.literal, "type");
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      add(node.arguments[0], "dynamic");
      if (!ts.isStringLiteralLike(node.arguments[0]))
        found.push({ kind: "dynamic", position: node.getStart() });
    } else if (
      ts.isCallExpression(node) &&
      ts.isIdentifier(node.expression) &&
      node.expression.text === "require"
    )
      add(node.arguments[0], "static");
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}
