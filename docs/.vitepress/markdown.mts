import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DefaultTheme, SiteConfig } from "vitepress";
import { siteLink } from "./links.mts";

/**
 * Writes each page as Markdown beside its HTML, and llms.txt, which lists the pages that the sidebar lists: models read
 * Markdown better. The first page has none, because llms.txt takes its place.
 */
export function writeMarkdown({ pages, rewrites, srcDir, outDir, site }: MarkdownSite): void {
  for (const page of pages.filter((name) => name !== "index.md")) {
    const target = join(outDir, rewrites.map[page] ?? page);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, withSiteLinks(page, readFileSync(join(srcDir, page), "utf8"), rewrites));
  }
  const sections = site.themeConfig.sidebar["/"].map(
    ({ text, items = [] }) =>
      `## ${text}\n\n${items.map((item) => `- [${item.text}](${markdownFile(item.link ?? "")})\n`).join("")}`,
  );
  writeFileSync(
    join(outDir, "llms.txt"),
    [`# ${site.title}\n`, `> ${site.description}\n`, ...sections].join("\n"),
  );
}

interface Theme {
  readonly sidebar: { readonly "/": readonly DefaultTheme.SidebarItem[] };
}
type MarkdownSite = Pick<SiteConfig<Theme>, "pages" | "rewrites" | "srcDir" | "outDir" | "site">;

/** The file of the page that a link of the sidebar leads to: `/guides/files` or `/decisions/`. */
function markdownFile(link: string): string {
  return link.endsWith("/") ? `${link}index.md` : `${link}.md`;
}

/** Makes links lead to the Markdown of other pages. Of pictures, and links to files that are no pages, the text stays. */
function withSiteLinks(page: string, text: string, { map }: SiteConfig["rewrites"]): string {
  return text.replace(/^```.*?^```$|!?\[([^\]]*)\]\(([^)\s]+)\)/gms, (whole, label, href) => {
    if (href === undefined) return whole;
    const target = siteLink(page, href);
    if (target === undefined || (target.startsWith("/") && !/\.md(#|$)/.test(target))) return label;
    return `[${label}](${target.replace(/^\/([^#]+)/, (path, file) => (map[file] ? `/${map[file]}` : path))})`;
  });
}
