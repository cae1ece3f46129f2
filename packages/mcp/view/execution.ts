/** Shows the outcome of a program: its output, its plots and its tables. */
import { block, element } from "./elements.js";
import type { ToolResult } from "./host.js";

type Facts = Readonly<Record<string, unknown>>;

export function isExecution(structure: Facts): boolean {
  return typeof structure.exit_code === "number" && typeof structure.stdout === "string";
}

export function executionView(structure: Facts, { content = [] }: ToolResult, args: Facts): Node {
  const exitCode = Number(structure.exit_code);
  const status = element("strong", { className: exitCode === 0 ? "good" : "bad" }, `exit code ${exitCode}`);
  const time = typeof structure.execution_time === "number" ? `${structure.execution_time.toFixed(2)} s` : "";
  const program = text(args.code ?? args.command);
  const code = element("details", {}, element("summary", {}, "Program"), element("pre", {}, program));
  return element(
    "div",
    {},
    element("header", {}, status, element("span", { className: "faint" }, time)),
    program === "" ? undefined : code,
    ...content.map(image),
    ...displayed(structure.rich_outputs),
    block("Result", text(structure.result)),
    block("Output", text(structure.stdout)),
    block("Errors", text(structure.stderr), "stderr"),
    block("Note", text(structure.note)),
  );
}

const imageTypes = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

function image({ type, data, mimeType }: Facts): Node | undefined {
  if (type !== "image" || !imageTypes.has(text(mimeType)) || !/^[A-Za-z0-9+/=]+$/.test(text(data)))
    return undefined;
  const shown = element("img", {});
  shown.alt = "A plot that the program drew";
  shown.src = `data:${mimeType};base64,${data}`;
  return shown;
}

function displayed(outputs: unknown): (Node | undefined)[] {
  if (!Array.isArray(outputs)) return [];
  return outputs.map(({ type, data, note }: Facts) => {
    if (note !== undefined) return block(text(type), text(note));
    if (typeof data !== "string") return undefined;
    return type === "text/html" ? frame(data) : block(text(type), data);
  });
}

/** Shows HTML from a sandbox in a frame that cannot run, load or reach anything. */
function frame(html: string): Node {
  const policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";
  const shown = element("iframe", {});
  shown.setAttribute("sandbox", "");
  shown.title = "A table that the program displayed";
  shown.srcdoc = `<!doctype html><meta http-equiv="Content-Security-Policy" content="${policy}"><style>body{font:13px system-ui}</style>${html}`;
  return shown;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
