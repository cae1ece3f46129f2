import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { MarkdownRenderer } from "vitepress";

const docs = fileURLToPath(new URL("..", import.meta.url));
const packages = join(docs, "..", "packages");

/**
 * Leads links to where their target is in the site. On the disk, pages link to files of the repository, so that the links
 * work there too; files that are no pages of the site stay as text.
 */
export function repositoryLinks(md: MarkdownRenderer): void {
  md.core.ruler.push("repository-links", ({ tokens, env }) => {
    const folder = folderOf(String(env.relativePath));
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const href = token.type === "link_open" ? token.attrGet("href") : null;
      if (!href || /^(#|\/|[a-z]+:)/.test(href)) continue;
      const target = pageOf(resolve(folder, href));
      if (target !== undefined) token.attrSet("href", target);
      else Object.assign(token, { tag: "span", attrs: [] });
    }
    closeAsOpened(tokens);
  });
}

/** The folder that links of a page start from: those of `packages/client.md` are those of the package's README. */
function folderOf(page: string): string {
  const name = /^packages\/([\w-]+)\.md$/.exec(page)?.[1];
  return name === undefined ? dirname(join(docs, page)) : join(packages, name);
}

function pageOf(file: string): string | undefined {
  const [, name, hash = ""] = /^([\w-]+)\/README\.md(#.*)?$/.exec(relative(packages, file)) ?? [];
  if (name !== undefined) return `/packages/${name}.md${hash}`;
  const page = relative(docs, file);
  return page.startsWith("..") ? undefined : `/${page}`;
}

function closeAsOpened(tokens: MarkdownTokens): void {
  for (const { children } of tokens) {
    let tag = "a";
    for (const token of children ?? []) {
      if (token.type === "link_open") tag = token.tag;
      else if (token.type === "link_close") token.tag = tag;
    }
  }
}

type MarkdownTokens = ReturnType<MarkdownRenderer["parse"]>;
