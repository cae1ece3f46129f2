import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { writeMarkdown } from "../../docs/.vitepress/markdown.mts";

const root = fileURLToPath(new URL("../..", import.meta.url));

let directory;
let outDir;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "site-"));
  outDir = join(directory, "out");
  const srcDir = join(directory, "docs");
  for (const folder of ["", "guides", "decisions"])
    for (const name of readdirSync(join(root, "docs", folder)).filter((name) => name.endsWith(".md")))
      cpSync(join(root, "docs", folder, name), join(srcDir, folder, name));
  for (const name of ["client", "local", "mcp", "mcp-runner", "cli"])
    cpSync(join(root, "packages", name, "README.md"), join(srcDir, "packages", `${name}.md`));
  const pages = readdirSync(srcDir, { recursive: true }).filter((name) => name.endsWith(".md"));
  writeMarkdown({
    pages,
    rewrites: { map: { "decisions/README.md": "decisions/index.md" } },
    srcDir,
    outDir,
    site: {
      title: "A site",
      description: "What it is about.",
      themeConfig: {
        sidebar: {
          "/": [
            { text: "Start", items: [{ text: "Quickstart", link: "/quickstart" }] },
            { text: "More", items: [{ text: "Decisions", link: "/decisions/" }] },
          ],
        },
      },
    },
  });
});
afterAll(() => rmSync(directory, { recursive: true }));

const written = (page) => readFileSync(join(outDir, page), "utf8");

test("llms.txt lists the pages of the sidebar as Markdown", () => {
  expect(written("llms.txt")).toBe(`# A site

> What it is about.

## Start

- [Quickstart](/quickstart.md)

## More

- [Decisions](/decisions/index.md)
`);
});

test("the Markdown of a page is the page, and its links lead to the Markdown of others", () => {
  const pages = readdirSync(outDir, { recursive: true }).filter((name) => name.endsWith(".md"));
  expect(pages.length).toBeGreaterThan(70);
  const links = pages.flatMap((page) =>
    [...written(page).matchAll(/\]\((\/[^)#\s]+)/g)].map(([, link]) => ({ page, link })),
  );
  expect(links.length).toBeGreaterThan(200);
  // The references are made by `npm run docs`.
  const broken = links.filter(({ link }) => !/^\/reference\//.test(link) && !existsSync(join(outDir, link)));
  expect(broken).toEqual([]);
  expect(written("packages/cli.md")).toContain("[In a terminal](/guides/terminal.md)");
  expect(written("packages/cli.md")).toContain("npx --no cloud-sandbox run --code 'print(6 * 7)'");
});
