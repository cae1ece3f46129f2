/** Every MCP client that pages and manifests name, with the place and the form of its configuration. */
import { stringify as toml } from "smol-toml";
import { stringify as yaml } from "yaml";

export const serverName = "cloud-sandbox";
export const keyVariable = "CLOUD_SANDBOX_API_KEY";
/**
 * Starts the server of a checkout. The package is not on npm yet, and until it is, anybody can publish one of this name:
 * `npx -y` would run that.
 */
export const command = { command: "node", args: ["/path/to/checkout/packages/mcp/dist/main.js"] };
/** For links and plugins, which know no checkout. `--no` runs the package if it is installed, and downloads nothing. */
export const installed = { command: "npx", args: ["--no", "cloud-sandbox-mcp"] };

const typed = [command.command, ...command.args].join(" ");
const inServers = (server) => json({ servers: { [serverName]: { type: "stdio", ...server } } });
const inMcpServers = (server) => json({ mcpServers: { [serverName]: server } });

/**
 * `configure` writes the configuration of a server, `shell` is a command that does so, and `link` adds the server by
 * one click.
 */
export const clients = [
  {
    name: "Claude Code",
    shell: `claude mcp add ${serverName} -- ${typed}`,
    place: "`.mcp.json` in a project",
    language: "json",
    configure: inMcpServers,
  },
  {
    name: "Claude Desktop",
    place: "`claude_desktop_config.json` (Settings → Developer → Edit Config)",
    language: "json",
    configure: inMcpServers,
  },
  {
    name: "Cursor",
    place: "`~/.cursor/mcp.json`, or `.cursor/mcp.json` in a project",
    language: "json",
    configure: inMcpServers,
    link: `https://cursor.com/en/install-mcp?name=${serverName}&config=${encodeURIComponent(
      Buffer.from(JSON.stringify(installed)).toString("base64"),
    )}`,
  },
  {
    name: "VS Code",
    shell: `code --add-mcp '${JSON.stringify({ name: serverName, ...command })}'`,
    place: "`.vscode/mcp.json`",
    language: "json",
    configure: inServers,
    link: `https://insiders.vscode.dev/redirect/mcp/install?name=${serverName}&config=${encodeURIComponent(
      JSON.stringify(installed),
    )}`,
  },
  {
    name: "Visual Studio",
    place: "`.mcp.json` beside the solution, or `%USERPROFILE%\\.mcp.json`",
    language: "json",
    configure: inServers,
  },
  {
    name: "Cline",
    place: "`cline_mcp_settings.json` (MCP Servers → Configure)",
    language: "json",
    configure: inMcpServers,
  },
  {
    name: "Continue",
    place: `\`.continue/mcpServers/${serverName}.yaml\``,
    language: "yaml",
    configure: (server) =>
      yaml({
        name: "Cloud Sandbox",
        version: "1.0.0",
        schema: "v1",
        mcpServers: [{ name: serverName, ...server }],
      }),
  },
  {
    name: "Windsurf",
    place: "`~/.codeium/windsurf/mcp_config.json`",
    language: "json",
    configure: inMcpServers,
  },
  {
    name: "Zed",
    place: "`settings.json`",
    language: "json",
    configure: (server) => json({ context_servers: { [serverName]: server } }),
  },
  {
    name: "Codex",
    shell: `codex mcp add ${serverName} -- ${typed}`,
    place: "`~/.codex/config.toml`",
    language: "toml",
    // Codex allows a tool 60 seconds by default, but code may run for 300.
    configure: (server) => toml({ mcp_servers: { [serverName]: { ...server, tool_timeout_sec: 330 } } }),
  },
  {
    name: "Gemini CLI",
    shell: `gemini mcp add ${serverName} ${typed}`,
    place: "`~/.gemini/settings.json`",
    language: "json",
    configure: inMcpServers,
  },
];

/** How to configure an API key, in each form in which clients differ. */
export const withKey = [
  {
    clients: "Every client that reads JSON, except VS Code and Visual Studio",
    language: "json",
    text: inMcpServers({ ...command, env: { [keyVariable]: "…" } }),
  },
  {
    clients: "VS Code and Visual Studio, which ask for the key and keep it safe",
    language: "json",
    text: json({
      inputs: [{ type: "promptString", id: "key", description: "Cloud Sandbox API key", password: true }],
      servers: { [serverName]: { type: "stdio", ...command, env: { [keyVariable]: `$\{input:key}` } } },
    }),
  },
  {
    clients: "Codex",
    language: "toml",
    text: toml({ mcp_servers: { [serverName]: { ...command, env: { [keyVariable]: "…" } } } }),
  },
  {
    clients: "Continue, with the key among its secrets",
    language: "yaml",
    text: yaml({
      name: "Cloud Sandbox",
      version: "1.0.0",
      schema: "v1",
      mcpServers: [
        { name: serverName, ...command, env: { [keyVariable]: `$\{{ secrets.${keyVariable} }}` } },
      ],
    }),
  },
];

/** JSON with each list of words on one line, as people write it. */
export function json(value) {
  const text = JSON.stringify(value, null, 2).replace(
    /\[\s+("[^"]*"(?:,\s+"[^"]*")*)\s+\]/g,
    (_, words) => `[${words.replace(/,\s+/g, ", ")}]`,
  );
  return `${text}\n`;
}
