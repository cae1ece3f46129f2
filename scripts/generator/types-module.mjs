import openapiTypescript, { astToString } from "openapi-typescript";
import ts from "typescript";

const received = ts.factory.createTypeReferenceNode("Blob");
const sent = ts.factory.createUnionTypeNode([received, ts.factory.createTypeReferenceNode("Uint8Array")]);
/** A whole body may also be a stream; a file in a form may not, because the form's length is sent first. */
const body = ts.factory.createUnionTypeNode([
  sent,
  ts.factory.createTypeReferenceNode("ReadableStream", [ts.factory.createTypeReferenceNode("Uint8Array")]),
]);

/** The TypeScript types of a contract: `paths`, `components` and `operations`. */
export async function typesModule(document) {
  const ast = await openapiTypescript(withoutRequiredAlternatives(document), {
    // Keep fields with a default optional: the server fills them in, so callers may leave them out.
    defaultNonNullable: false,
    transform: ({ format }, { path }) => {
      if (format !== "binary") return undefined;
      if (path?.includes("/responses/")) return received;
      return path?.includes("/requestBody/") ? body : sent;
    },
  });
  return astToString(ast);
}

/**
 * A copy without `anyOf` of nothing but `required` ("one of these fields must be present"). Only a validator can check
 * that, and it would turn the type into `unknown`.
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
