import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
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
  const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "*.md"], {
    cwd: root,
    encoding: "utf8",
  });
  return listed.trim().split("\n");
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
