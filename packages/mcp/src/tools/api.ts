/**
 * The control plane's operations by method and path, as HOPX's own server has them. Each operation calls the tool that does the
 * same, so that tool's checks apply: call_api reaches no tool that is not offered, no sandbox of another client, no token.
 */
import * as z from "zod";
import { InvalidArgumentsError } from "../errors/errors.js";
import { text } from "./definition/input-fields.js";
import { executing, type Tool, tool } from "./definition/tool.js";
import { sandboxTools } from "./sandboxes.js";
import { templateTools } from "./templates.js";

const operations: ReadonlyArray<readonly [method: string, path: string, tool: string]> = [
  ["GET", "/health", "health"],
  ["GET", "/v1/sandboxes", "list_sandboxes"],
  ["POST", "/v1/sandboxes", "create_sandbox"],
  ["GET", "/v1/sandboxes/{id}", "get_sandbox"],
  ["DELETE", "/v1/sandboxes/{id}", "delete_sandbox"],
  ["POST", "/v1/sandboxes/{id}/pause", "pause_sandbox"],
  ["POST", "/v1/sandboxes/{id}/resume", "resume_sandbox"],
  ["PUT", "/v1/sandboxes/{id}/timeout", "update_sandbox_timeout"],
  ["GET", "/v1/templates", "list_templates"],
  ["GET", "/v1/templates/{name}", "get_template"],
  ["DELETE", "/v1/templates/{name}", "delete_template"],
];

const tools = new Map([...sandboxTools, ...templateTools].map((operation) => [operation.name, operation]));

const values = z.record(z.string(), z.unknown(), "must be an object").optional();

export const callApi = tool({
  name: "call_api",
  title: "Call the control plane",
  description:
    "Calls an operation of the control plane by method and path, such as GET /v1/sandboxes. The same as the tool for it.",
  toolset: "compatibility",
  annotations: executing,
  input: z.object({
    method: z.enum(["GET", "POST", "PUT", "DELETE"]).describe("HTTP method"),
    path: text.describe("Path, such as /v1/sandboxes/{id}"),
    query: values.describe("Query parameters"),
    body: values.describe("JSON body"),
    auth_token: z.string().optional().describe("Not needed"),
  }),
  output: z.looseObject({}),
  handler: async ({ method, path, query, body, auth_token: _, ...context }) => {
    const { pathname, search } = target(path);
    for (const [known, template, toolName] of operations) {
      const inPath = method === known ? parameters(template, pathname) : undefined;
      const operation = context.offered.has(toolName) ? tools.get(toolName) : undefined;
      if (inPath === undefined || operation === undefined) continue;
      const inQuery = Object.fromEntries(new URLSearchParams(search));
      const args = { ...inQuery, ...query, ...body, ...inPath };
      return operation.run(inTypes(args, operation), context);
    }
    const offered = operations.filter(([, , toolName]) => context.offered.has(toolName));
    throw new InvalidArgumentsError(
      `call_api has no ${method} ${pathname.slice(0, 200)}; it has ${offered.map(([verb, at]) => `${verb} ${at}`).join(", ")}.`,
    );
  },
});

/** Only a path is accepted: a model must not choose the host that the API key is sent to. */
function target(path: string): { pathname: string; search: string } {
  const [, pathname, search = ""] = /^(\/(?!\/)[\w./~%-]*)(\?.*)?$/.exec(path) ?? [];
  if (pathname !== undefined) return { pathname, search };
  throw new InvalidArgumentsError("path must be the path of an operation, such as /v1/sandboxes.");
}

/** The values of the template's parameters in a path. Undefined when the path does not match the template. */
function parameters(template: string, path: string): Record<string, string> | undefined {
  const [wanted, parts] = [template.split("/"), path.split("/")];
  if (wanted.length !== parts.length) return undefined;
  const found: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const value = parts[index] ?? "";
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    if (name === undefined ? part !== value : value === "") return undefined;
    if (name !== undefined) found[name] = decoded(value);
  }
  return found;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new InvalidArgumentsError("path has an invalid percent escape; write % as %25.");
  }
}

function numberIn(value: unknown): unknown {
  return typeof value === "string" && /^-?\d+$/.test(value) ? Number(value) : value;
}

/** Converts texts of a query to numbers, and numbers of a body to texts, where the tool takes the other: template ids can be both. */
function inTypes(args: Record<string, unknown>, { input }: Tool): Record<string, unknown> {
  const converted = ([name, value]: [string, unknown]): [string, unknown] => {
    const field = Object.hasOwn(input.shape, name) ? input.shape[name] : undefined;
    const isTaken = (other: unknown): boolean => field === undefined || z.safeParse(field, other).success;
    if (isTaken(value)) return [name, value];
    const other = typeof value === "number" ? String(value) : numberIn(value);
    return [name, isTaken(other) ? other : value];
  };
  return Object.fromEntries(Object.entries(args).map(converted));
}
