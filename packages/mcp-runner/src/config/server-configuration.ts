/** The configuration of an MCP server: how to install and start it, and what it may reach. */
import type { NamedSecret, Secret } from "cloud-sandbox";
import * as z from "zod";
import { McpConfigurationError } from "../errors.js";

const variableName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "is not a variable's name");
const text = z.string().min(1, "must not be empty");
const stored = z.strictObject({ from: text, hosts: z.array(text).min(1).optional() });
const carried = z.strictObject({
  hosts: z.array(text).min(1, "must name a host"),
  file: text.optional(),
  headers: z.record(z.string(), z.string()).optional(),
  basic: z.string().optional(),
  methods: z.array(text).optional(),
  paths: z.array(text).optional(),
});
const noNul = text.refine((value) => !value.includes("\0"), "must not contain a NUL character");

/** Form of a server's configuration, in the spelling of the configuration file. */
export const mcpServerSchema = z
  .strictObject({
    /** Program or bash command line that starts the server. Without `args` it is a bash command line. */
    command: noNul.optional(),
    /** Arguments of the program, taken literally. */
    args: z.array(z.string()).optional(),
    /** Variables of the server's process. `${NAME}` and `${NAME:-default}` stand for variables of this process. */
    env: z.record(variableName, z.string()).optional(),
    /** Credentials that the server's process uses without having them. */
    secrets: z.record(variableName, z.union([stored, carried])).optional(),
    /** Bash command lines that install the server. They see no `env`. */
    installCommands: z.array(noNul).max(100).optional(),
    /** A sentence for people. */
    description: z.string().optional(),
    /** Minutes after which a session and its sandbox end. */
    timeoutMinutes: z.number().positive().max(1440).default(10),
    /** What the server may reach: everything, nothing, or these destinations. Default: the backend's default. */
    internet: z.union([z.boolean(), z.array(text)]).optional(),
    /** Template of the sandbox. */
    template: text.default("code-interpreter"),
    /** Working directory of the server. */
    workdir: text.optional(),
    /** Port inside the sandbox, if the server speaks Streamable HTTP instead of stdio. */
    port: z.int().min(1).max(65_535).optional(),
    /** Path of the endpoint at `port`. */
    path: z.string().startsWith("/").optional(),
  })
  .refine(({ command }) => command !== undefined, {
    path: ["command"],
    message: "is missing: write the program or the bash command line that starts the server",
  })
  .refine(({ path, port }) => path === undefined || port !== undefined, {
    path: ["path"],
    message: "needs port as well: the port on which the server listens",
  });

/** Where a server's secret comes from and goes to. */
export interface McpServerSecret extends Omit<Secret, "env" | "placeholder" | "value"> {
  /** A file with the credential. Default: none. */
  readonly file?: string | undefined;
}

/** A server's configuration, with defaults filled in. */
export interface McpServerConfiguration {
  /** Name of the server. */
  readonly name: string;
  /** Program, or without `args` a bash command line, that starts the server. */
  readonly command: string;
  /** Arguments of the program, taken literally. */
  readonly args?: readonly string[] | undefined;
  /** Variables of the server's process. `${NAME}` and `${NAME:-default}` stand for variables of this process. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /**
   * Credentials that the server's process uses without having them, by the name of its variable, which has a placeholder. The value is
   * that of the stored secret `from`, of `file`, else of the variable of this name in `env`, else in this process's environment.
   */
  readonly secrets?: Readonly<Record<string, McpServerSecret | NamedSecret>> | undefined;
  /** Bash command lines that install the server, run once. They see no `env`. */
  readonly installCommands?: readonly string[] | undefined;
  /** A sentence for people. */
  readonly description?: string | undefined;
  /** Minutes after which a session and its sandbox end, at most 1440. Default 10. */
  readonly timeoutMinutes: number;
  /** What the server may reach: everything, nothing, or these destinations. Default: the backend's default. */
  readonly internet?: boolean | readonly string[] | undefined;
  /** Template of the sandbox. Default `code-interpreter`. */
  readonly template: string;
  /** Working directory of the server. Default /workspace. */
  readonly workdir?: string | undefined;
  /** Port inside the sandbox, if the server speaks Streamable HTTP instead of stdio. */
  readonly port?: number | undefined;
  /** Path of the endpoint at `port`. Default `/mcp`. */
  readonly path?: string | undefined;
}

/** A server as a program describes it: `name` and `command` are required. */
export type McpServerOptions = Pick<McpServerConfiguration, "name" | "command"> &
  Partial<McpServerConfiguration>;

/** Other names of configuration keys, from assistants' files and from e2b-mcp. */
const spellings: Readonly<Record<string, string>> = {
  install_commands: "installCommands",
  timeout_minutes: "timeoutMinutes",
  cwd: "workdir",
};
/** Keys in other programs' files that have no meaning here and are ignored. */
const unused = new Set(["type", "transport", "disabled", "autoApprove", "alwaysAllow", "name", "package"]);

/** Parts an entry of another program's file: what describes the server, and the keys that only that program knows. */
export function partedEntry(entry: Readonly<Record<string, unknown>>): {
  readonly server: Record<string, unknown>;
  readonly foreignKeys: readonly string[];
} {
  const known = { ...mcpServerSchema.shape, ...spellings };
  const isForeign = (key: string): boolean => !Object.hasOwn(known, key) && !unused.has(key);
  return {
    server: Object.fromEntries(Object.entries(entry).filter(([key]) => !isForeign(key))),
    foreignKeys: Object.keys(entry).filter(isForeign),
  };
}

/** Checks a server's configuration, in any known spelling, and fills in defaults. */
export function serverConfiguration(name: string, entry: unknown): McpServerConfiguration {
  if (!isServerName(name))
    throw invalid(
      `"${String(name).slice(0, 80)}" cannot be the name of a server.`,
      "Use 1 to 64 letters, digits, dots, dashes and underscores, with a letter or digit first.",
    );
  if (typeof entry !== "object" || entry === null || Array.isArray(entry))
    throw invalid(`The configuration of server "${name}" is not a JSON object.`);
  if ("url" in entry)
    throw invalid(
      `Server "${name}" has a URL, so it runs elsewhere and cannot run in a sandbox.`,
      "Connect your MCP client to the URL directly.",
    );
  const known = Object.entries(entry)
    .filter(([key, value]) => !unused.has(key) && value !== undefined)
    .map(([key, value]) => [spellings[key] ?? key, value]);
  const parsed = mcpServerSchema.safeParse(Object.fromEntries(known));
  if (!parsed.success)
    throw invalid(`Server "${name}": ${problemsOf(parsed.error)}`, undefined, pathOf(parsed.error, entry));
  const { command = "", ...rest } = parsed.data;
  return { name, command, ...rest };
}

/** Whether a text can be the name of a server. */
export function isServerName(name: unknown): name is string {
  return typeof name === "string" && /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name);
}

/** The problems of a configuration, key by key. Values are left out, because they may be secrets. */
function problemsOf({ issues }: z.ZodError): string {
  return issues.map((issue) => `${keyOf(issue)}${problemOf(issue)}`).join("; ");
}

/** The path of the first invalid key, in the spelling of the configuration `entry`. */
function pathOf({ issues: [issue] }: z.ZodError, entry: object): (string | number)[] {
  const [key, ...rest] = issue?.path ?? [];
  const first = issue?.code === "unrecognized_keys" && key === undefined ? issue.keys[0] : key;
  const spelling = Object.keys(entry).find((each) => each === first || spellings[each] === first);
  return [spelling, ...rest].filter((part) => typeof part === "string" || typeof part === "number");
}

function keyOf({ path }: z.core.$ZodIssue): string {
  return path.length === 0 ? "" : `${path.join(".")} `;
}

function problemOf(issue: z.core.$ZodIssue): string {
  if (issue.code === "unrecognized_keys") return `has unknown keys: ${issue.keys.join(", ")}`;
  return issue.message.replace(/^Invalid input: /, "").replace(/^[A-Z]/, (first) => first.toLowerCase());
}

function invalid(summary: string, hint?: string, path?: (string | number)[]): McpConfigurationError {
  return new McpConfigurationError({ summary, hint, code: "INVALID_CONFIGURATION", ...(path && { path }) });
}
