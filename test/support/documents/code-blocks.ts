import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../..", import.meta.url));

export interface CodeBlock {
  /** File and line where the block begins, as `README.md:27`. */
  readonly place: string;
  readonly file: string;
  readonly language: string;
  readonly code: string;
}

/** All fenced code blocks in the project's pages. */
export function codeBlocks(): CodeBlock[] {
  return pages().flatMap(blocksOf);
}

/** The paths of all pages of the project, relative to its root. */
export function pages(): string[] {
  return pagesBelow("").sort();
}

/** What the project does not have itself: it is built or installed. */
const notOwn = /(^|\/)(node_modules|dist|coverage|tarballs|\.git)$|^docs\/(api|packages|reference)$/;

function pagesBelow(directory: string): string[] {
  return readdirSync(join(root, directory), { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    if (notOwn.test(path)) return [];
    if (entry.isDirectory()) return pagesBelow(path);
    return entry.isFile() && path.endsWith(".md") ? [path] : [];
  });
}

function blocksOf(file: string): CodeBlock[] {
  const text = readFileSync(join(root, file), "utf8");
  return [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(({ 1: language = "", 2: code = "", index }) => ({
    place: `${file}:${text.slice(0, index).split("\n").length + 1}`,
    file,
    language,
    code,
  }));
}
