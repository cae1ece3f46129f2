import openapiTypescript, { astToString } from "openapi-typescript";
import ts from "typescript";

const received = ts.factory.createTypeReferenceNode("Blob");
const sent = ts.factory.createUnionTypeNode([received, ts.factory.createTypeReferenceNode("Uint8Array")]);

/** The TypeScript types of a contract: `paths`, `components` and `operations`. */
export async function typesModule(document) {
  const ast = await openapiTypescript(withoutRequiredAlternatives(document), {
    // A default is what the server assumes: the caller may leave the field out.
    defaultNonNullable: false,
    transform: ({ format }, { path }) => {
      if (format !== "binary") return undefined;
      return path?.includes("/responses/") ? received : sent;
    },
  });
  return astToString(ast);
}

/**
 * A copy without "one of these fields must be present" (`anyOf` of nothing but `required`): a validator's matter,
 * which would widen the type to `unknown`.
 */
function withoutRequiredAlternatives(node) {
  if (Array.isArray(node)) return node.map(withoutRequiredAlternatives);
  if (typeof node !== "object" || node === null) return node;
  const kept = Object.entries(node).filter(
    ([key, value]) => !((key === "anyOf" || key === "oneOf") && isAlternatives(value)),
  );
  return Object.fromEntries(kept.map(([key, value]) => [key, withoutRequiredAlternatives(value)]));
}

const isAlternatives = (value) =>
  Array.isArray(value) && value.every((branch) => Object.keys(branch).join() === "required");
