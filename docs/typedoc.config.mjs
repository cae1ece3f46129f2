import reference from "../typedoc.config.mjs";

/** The reference as pages of the site: the same as the check reads, written as Markdown. */
export default {
  ...reference,
  entryPoints: ["../packages/client", "../packages/local", "../packages/mcp-runner"],
  plugin: ["typedoc-plugin-markdown"],
  out: "api",
  entryFileName: "index",
  mergeReadme: true,
  hidePageHeader: true,
  hideBreadcrumbs: true,
  useCodeBlocks: true,
  useHTMLEncodedBrackets: true,
  sanitizeComments: true,
  // `npm run check -- docs` fails on warnings. Here TypeDoc also warns that the options above come from the checkout's own copy of it.
  treatWarningsAsErrors: false,
  logLevel: "Error",
  navigationJson: "api/navigation.json",
};
