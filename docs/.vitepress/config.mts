import { readFileSync } from "node:fs";
import { type DefaultTheme, defineConfig, type MarkdownRenderer } from "vitepress";
import { repositoryLinks } from "./links.mts";
import { writeMarkdown } from "./markdown.mts";

type Item = DefaultTheme.SidebarItem;

const guides: Item[] = [
  {
    text: "Start",
    items: [
      page("Quickstart", "/quickstart"),
      page("Concepts", "/concepts"),
      page("Glossary", "/glossary"),
      page("In a terminal", "/guides/terminal"),
      page("Recordings of a terminal", "/guides/recordings"),
      page("MCP for each assistant", "/guides/mcp"),
      page("Other people's MCP servers", "/guides/mcp-servers"),
    ],
  },
  {
    text: "From a program",
    items: [
      page("Run code", "/guides/run-code"),
      page("Sandboxes", "/guides/sandboxes"),
      page("Files", "/guides/files"),
      page("Streams", "/guides/streams"),
      page("Long jobs", "/guides/long-jobs"),
      page("Webhooks", "/guides/webhooks"),
      page("Events", "/guides/events"),
      page("Templates", "/guides/templates"),
      page("Volumes", "/guides/volumes"),
      page("Changes to accept", "/guides/changes"),
      page("Snapshots and forks", "/guides/snapshots"),
      page("Secrets", "/guides/secrets"),
      page("Internet access", "/guides/internet-access"),
      page("Previews", "/guides/previews"),
      page("Desktops and browsers", "/guides/desktop"),
      page("Errors", "/guides/errors"),
      page("Limits", "/guides/limits"),
      page("Client options", "/guides/client-options"),
      page("Test your app", "/guides/testing"),
    ],
  },
  {
    text: "Run the service",
    items: [
      page("Host it yourself", "/guides/self-hosting"),
      page("Sandboxes in Docker", "/guides/docker"),
      page("Sandboxes on Kubernetes", "/guides/kubernetes"),
      page("Kubernetes at scale", "/guides/kubernetes-at-scale"),
      page("Debugging", "/debugging"),
    ],
  },
  {
    text: "Come from elsewhere",
    items: [
      page("From HOPX", "/migrating-from-hopx"),
      page("From E2B", "/migrating-from-e2b"),
      page("From Vercel Sandbox", "/migrating-from-vercel-sandbox"),
      page("From another MCP server", "/replacing-mcp-servers"),
    ],
  },
  {
    text: "How it works",
    items: [
      page("Architecture", "/architecture"),
      page("Security", "/security"),
      page("Security of the MCP server", "/mcp-security"),
      page("Crash safety", "/crash-safety"),
      page("Performance", "/performance"),
      page("Decisions", "/decisions/"),
    ],
  },
  {
    text: "Reference",
    items: [
      page("API of the packages", "/api/"),
      page("cloud-sandbox", "/packages/client"),
      page("cloud-sandbox-local", "/packages/local"),
      page("cloud-sandbox-mcp", "/packages/mcp"),
      page("cloud-sandbox-mcp-runner", "/packages/mcp-runner"),
      page("cloud-sandbox-cli", "/packages/cli"),
      page("Tools of the MCP server", "/reference/mcp-tools"),
      page("HTTP: control plane", "/reference/control-plane"),
      page("HTTP: agent", "/reference/agent"),
    ],
  },
];

/** A page loads only files of the site, so that the site works without a network. */
export default defineConfig({
  title: "Cloud Sandbox",
  description: "Run code that you do not trust in isolated sandboxes.",
  // An empty icon, because browsers would otherwise request one that does not exist.
  head: [["link", { rel: "icon", href: "data:," }]],
  rewrites: { "decisions/README.md": "decisions/index.md" },
  markdown: {
    // Do not read braces in headings as attributes: they are parts of paths, such as /v1/sandboxes/{id}.
    attrs: { disable: true },
    config(md) {
      diagrams(md);
      repositoryLinks(md);
    },
  },
  buildEnd: writeMarkdown,
  vite: { build: { chunkSizeWarningLimit: 4000 } },
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    nav: [
      page("Quickstart", "/quickstart"),
      page("Guides", "/guides/run-code"),
      page("API", "/api/"),
      page("Architecture", "/architecture"),
    ],
    sidebar: { "/api/": apiReference(), "/": guides },
  },
});

function page(text: string, link: string): { text: string; link: string } {
  return { text, link };
}

/** Renders code blocks of the language mermaid as diagrams. */
function diagrams(md: MarkdownRenderer): void {
  const { fence } = md.renderer.rules;
  md.renderer.rules.fence = (tokens, index, ...rest) => {
    const { info = "", content = "" } = tokens[index] ?? {};
    if (info.trim() !== "mermaid") return fence?.(tokens, index, ...rest) ?? "";
    return `<Diagram source="${encodeURIComponent(content)}" />`;
  };
}

interface Entry {
  readonly title: string;
  readonly path?: string | null;
  readonly children?: readonly Entry[];
}

/** The navigation of the API reference, which TypeDoc writes as a JSON file. */
function apiReference(): Item[] {
  const tree = JSON.parse(readFileSync(new URL("../api/navigation.json", import.meta.url), "utf8"));
  const item = ({ title, path, children }: Entry): Item => ({
    text: title,
    ...(path ? { link: `/api/${path}` } : {}),
    ...(children ? { collapsed: true, items: children.map(item) } : {}),
  });
  return [page("All packages", "/api/"), ...(tree as Entry[]).map(item)];
}
