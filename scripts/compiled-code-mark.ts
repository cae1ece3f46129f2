import { createHash } from "node:crypto";
import type { Plugin } from "rolldown";

/**
 * A plugin for rolldown that writes the files of a CommonJS bundle in ASCII, and puts a digest before each, by which Node.js 20 finds
 * the compiled code of an earlier process (packages/server-kit/src/compiled-code.ts). Files with a dynamic import get no digest,
 * because code from such a cache cannot resolve it.
 */
export function compiledCodeMark(): Plugin {
  return {
    name: "compiled-code-mark",
    generateBundle(_, bundle) {
      for (const file of Object.values(bundle)) {
        if (file.type !== "chunk") continue;
        file.code = inAscii(file.code);
        if (file.code.startsWith("#!") || imports(this.parse(file.code))) continue;
        const digest = createHash("sha256").update(file.code).digest("hex").slice(0, 32);
        file.code = `/*compiled code ${digest}*/${file.code}`;
      }
    },
  };
}

/**
 * Writes characters beyond ASCII as escapes, which mean the same in texts and patterns. A single such character would make V8 keep
 * the whole file with two bytes for each character: that takes longer to read, and twice the memory.
 */
function inAscii(code: string): string {
  return code.replace(
    /(?<!\\)[^\0-\x7f]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Whether a syntax tree has a dynamic import. */
function imports(node: unknown): boolean {
  if (typeof node !== "object" || node === null) return false;
  return ("type" in node && node.type === "ImportExpression") || Object.values(node).some(imports);
}
