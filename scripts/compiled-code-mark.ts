import { createHash } from "node:crypto";
import type { Plugin } from "rolldown";

/**
 * A plugin for rolldown that puts a digest before each file of a CommonJS bundle, by which Node.js 20 finds the compiled code of an
 * earlier process (packages/server-kit/src/compiled-code.ts). Files with a dynamic import get none, because code from such a cache
 * cannot resolve it.
 */
export function compiledCodeMark(): Plugin {
  return {
    name: "compiled-code-mark",
    generateBundle(_, bundle) {
      for (const file of Object.values(bundle)) {
        if (file.type !== "chunk" || file.code.startsWith("#!") || imports(this.parse(file.code))) continue;
        const digest = createHash("sha256").update(file.code).digest("hex").slice(0, 32);
        file.code = `/*compiled code ${digest}*/${file.code}`;
      }
    },
  };
}

/** Whether a syntax tree has a dynamic import. */
function imports(node: unknown): boolean {
  if (typeof node !== "object" || node === null) return false;
  return ("type" in node && node.type === "ImportExpression") || Object.values(node).some(imports);
}
