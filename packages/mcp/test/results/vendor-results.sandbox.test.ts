import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect, type McpConnection } from "../support/mcp-connection.js";
import { toolTable } from "../tools/tool-table.js";
import { vendorResults } from "./vendor-results.js";

type Answers = Record<string, Record<string, unknown>>;

/** Arguments that replace those of the table of calls, so that results contain their optional fields too. */
const fuller: Readonly<Record<string, Record<string, unknown>>> = {
  create_sandbox: { timeout_seconds: 300, include_auth_token: true },
  execute_code_rich: { code: "class Table:\n  def _repr_html_(self): return '<table>'\nTable()" },
  execute_code_background: { code: "print(2)", name: "two" },
  run_command_background: { command: "sleep 60", name: "command" },
};

const answers: Answers = {};
let mcp: McpConnection;
beforeAll(async () => {
  mcp = await connect({
    CLOUD_SANDBOX_BACKEND: "local",
    CLOUD_SANDBOX_MCP_TOOLSETS: "default,compatibility",
  });
  for (const [tool, given] of toolTable) {
    const usual = typeof given === "function" ? given(answers) : given;
    const call = (): Promise<Record<string, unknown>> => mcp.result(tool, { ...usual, ...fuller[tool] });
    answers[tool] = await call();
    // A process has these fields once it has ended.
    while (tool === "execute_list_processes" && !has(answers[tool], "processes[].exit_code"))
      answers[tool] = await call();
  }
});
afterAll(() => mcp.client.close());

interface Row {
  /** Empty if the row is about every tool. */
  readonly tools: readonly string[];
  readonly fields: readonly string[];
  readonly here: string;
}

const page = readFileSync(new URL("../../../../docs/replacing-mcp-servers.md", import.meta.url), "utf8");
/** The rows of the page's table of fields whose values are elsewhere in our results. */
const rows: readonly Row[] = (
  /\| tool +\| field of HOPX's[^\n]*\n\|[^\n]*\n((?:\|[^\n]*\n)+)/.exec(page)?.[1] ?? ""
)
  .trim()
  .split("\n")
  .map((line) => line.split("|").slice(1, -1))
  .map(([tools = "", fields = "", here = ""]) => ({
    tools: named(tools),
    fields: named(fields),
    here: here.trim(),
  }));

function named(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
}

/** Whether a result has a field. In a list one entry with the field is enough. */
function has(value: unknown, field: string): boolean {
  const [first = "", ...rest] = field.split(".");
  const name = first.replace("[]", "");
  if (typeof value !== "object" || value === null || !(name in value)) return false;
  const found: unknown = Reflect.get(value, name);
  if (rest.length === 0) return found !== undefined;
  const next = rest.join(".");
  return Array.isArray(found) ? found.some((entry) => has(entry, next)) : has(found, next);
}

const successorOf = (tool: string, field: string): Row | undefined =>
  rows.find(({ tools, fields }) => (tools.length === 0 || tools.includes(tool)) && fields.includes(field));

it("the results of all of the vendor's tools are known", () => {
  expect(Object.keys(vendorResults).filter((tool) => answers[tool] === undefined)).toEqual([]);
  expect(rows.length).toBeGreaterThan(10);
});

describe.each(Object.entries(vendorResults))("the result of %s", (tool, fields) => {
  it.each([...fields])("has %s, or the page names its successor", (field) => {
    if (has(answers[tool], field)) return;
    expect(successorOf(tool, field)?.here ?? "").not.toBe("");
  });
});

it.each(
  rows.flatMap((row) =>
    row.tools.flatMap((tool) => row.fields.map((field) => [tool, field, row.here] as const)),
  ),
)("the page rightly says that %s has no %s", (tool, field, here) => {
  expect(vendorResults[tool]).toContain(field);
  expect(has(answers[tool], field)).toBe(false);
  // The cell begins with the field that replaces this one, and names its tool if it is in another tool's result.
  const [, place = "", of = tool] = /^`([\w.[\]]+)`(?: of `(\w+)`)?/.exec(here) ?? [];
  if (place !== "") expect({ here, found: has(answers[of], place) }).toEqual({ here, found: true });
});
