/** Shows the result of one tool call, in a host that has MCP Apps. */
import { element, facts } from "./elements.js";
import { executionView, isExecution } from "./execution.js";
import { Host, type ToolResult } from "./host.js";
import { isTemplate, isTemplateList, templateBrowser, templateView } from "./templates.js";

const host = new Host();
let args: Readonly<Record<string, unknown>> = {};

function show(view: Node): void {
  document.querySelector("main")?.replaceChildren(view);
}

function viewOf(result: ToolResult): Node {
  const structure = result.structuredContent ?? {};
  if (result.isError === true) return element("p", { className: "bad" }, textOf(result));
  if (isExecution(structure)) return executionView(structure, result, args);
  if (isTemplateList(structure)) return templateBrowser(structure.data, host, show);
  if (isTemplate(structure)) return templateView(structure, host);
  return Object.keys(structure).length > 0 ? facts(structure) : element("pre", {}, textOf(result));
}

function textOf({ content = [] }: ToolResult): string {
  return content.map(({ text }) => (typeof text === "string" ? text : "")).join("\n");
}

void host.connect({
  onInput: (input) => {
    args = input;
  },
  onResult: (result) => show(viewOf(result)),
  onCancelled: () => show(element("p", { className: "faint" }, "Cancelled.")),
});
