import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { MarkdownRenderer } from "vitepress";

const docs = fileURLToPath(new URL("..", import.meta.url));
const packages = join(docs, "..", "packages");

/** Where the site has a page for what is read as a source in the repository. */
const generatedPages = new Map([
  ["openapi/control-plane.yaml", "/reference/control-plane.md"],
  ["openapi/agent.yaml", "/reference/agent.md"],
  ["packages/mcp/src/tools", "/reference/mcp-tools.md"],
]);

/**
 * Changes links in pages to the addresses in the site. In the repository, links lead to files, so that they work on
 * GitHub too. A link to a file that is no page of the site becomes text.
 */
export function repositoryLinks(md: MarkdownRenderer): void {
  md.core.ruler.push("repository-links", ({ tokens, env }) => {
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const href = token.type === "link_open" ? token.attrGet("href") : null;
      if (!href) continue;
      const target = siteLink(String(env.relativePath), href);
      if (target !== undefined) token.attrSet("href", target);
      else Object.assign(token, { tag: "span", attrs: [] });
    }
    closeAsOpened(tokens);
  });
}

/** The address in the site that a link of a page leads to. Undefined if it leads to a file that is no page. */
export function siteLink(page: string, href: string): string | undefined {
  return /^(#|\/|[a-z]+:)/.test(href) ? href : pageOf(resolve(folderOf(page), href));
}

/**
 * The folder from which the relative links of a page start. `packages/client.md` is a copy of the package's README, so
 * its links start in the package.
 */
function folderOf(page: string): string {
  const name = /^packages\/([\w-]+)\.md$/.exec(page)?.[1];
  return name === undefined ? dirname(join(docs, page)) : join(packages, name);
}

function pageOf(file: string): string | undefined {
  const generated = generatedPages.get(relative(join(docs, ".."), file));
  if (generated !== undefined) return generated;
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
