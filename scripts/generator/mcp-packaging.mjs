/**
 * Writes manifests and texts about the MCP server for registries, plugin shops and people, from its package.json and
 * the table of clients.
 */
import { clients, command, installed, json, keyVariable, serverName, withKey } from "./mcp-clients.mjs";

const title = "Cloud Sandbox";
const author = { name: `${title} contributors` };
const keyText =
  "Key of the cloud account. Without one, sandboxes run on this machine (Linux with bubblewrap).";

/** The generated files, by path. */
export function packagingFiles({ name, mcpName, version, description, license, keywords, engines }) {
  const facts = { name: serverName, version, description };
  return {
    "packages/mcp/server.json": json({
      $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
      name: mcpName,
      title,
      description,
      version,
      packages: [
        {
          registryType: "npm",
          identifier: name,
          version,
          runtimeHint: "npx",
          transport: { type: "stdio" },
          environmentVariables: [
            { name: keyVariable, description: keyText, isSecret: true, isRequired: false },
            {
              name: "CLOUD_SANDBOX_BASE_URL",
              description: "URL of the cloud.",
              default: "https://api.hopx.dev",
            },
            {
              name: "CLOUD_SANDBOX_BACKEND",
              description: "Where sandboxes run; by default in the cloud when there is a key, else locally.",
              choices: ["cloud", "local"],
            },
            {
              name: "CLOUD_SANDBOX_INTERNET",
              description:
                "Internet access of local sandboxes that are made without internet_access: on, off, or allow= and names with commas between them.",
              default: "on",
            },
            {
              name: "CLOUD_SANDBOX_POOL",
              description: "Local sandboxes that are kept booted in advance, 45 MB of memory each.",
              format: "number",
              default: "1",
            },
          ],
        },
      ],
    }),
    "packages/mcp/bundle/manifest.json": json({
      manifest_version: "0.3",
      ...facts,
      display_name: title,
      author,
      license,
      keywords,
      server: {
        type: "node",
        entry_point: "server/main.js",
        mcp_config: {
          command: "node",
          args: [`${variable("__dirname")}/server/main.js`],
          env: {
            [keyVariable]: variable("user_config.api_key"),
            CLOUD_SANDBOX_BASE_URL: variable("user_config.base_url"),
          },
        },
      },
      tools_generated: true,
      prompts_generated: true,
      compatibility: { platforms: ["darwin", "win32", "linux"], runtimes: { node: engines.node } },
      // Give each setting a default: if a setting without one is left empty, the variable gets the placeholder
      // `${user_config.…}` as its value.
      user_config: {
        api_key: {
          type: "string",
          title: "API key",
          description: keyText,
          sensitive: true,
          required: false,
          default: "",
        },
        base_url: {
          type: "string",
          title: "URL of the cloud",
          description: "Only for another HOPX-compatible cloud.",
          required: false,
          default: "",
        },
      },
    }),
    ".claude-plugin/marketplace.json": json({
      name: serverName,
      owner: author,
      plugins: [{ ...facts, source: "./packages/mcp/plugin" }],
    }),
    "packages/mcp/plugin/.claude-plugin/plugin.json": json({ ...facts, author, license, keywords }),
    "packages/mcp/plugin/.mcp.json": json({
      mcpServers: { [serverName]: { ...installed, env: { [keyVariable]: variable(`${keyVariable}:-`) } } },
    }),
    ".cursor-plugin/marketplace.json": json({
      name: serverName,
      owner: author,
      plugins: [{ name: serverName, source: "./packages/mcp/plugin", description }],
    }),
    "packages/mcp/plugin/.cursor-plugin/plugin.json": json({
      ...facts,
      displayName: title,
      author,
      license,
      keywords,
      mcpServers: "./mcp.json",
      skills: "./skills/",
    }),
    "packages/mcp/plugin/mcp.json": json({ mcpServers: { [serverName]: installed } }),
    "packages/mcp/plugin/gemini-extension.json": json({
      ...facts,
      mcpServers: { [serverName]: { ...installed, env: { [keyVariable]: `$${keyVariable}` } } },
      contextFileName: "skills/cloud-sandbox/SKILL.md",
      settings: [{ name: "API key", description: keyText, envVar: keyVariable, sensitive: true }],
    }),
  };
}

/** The section on installation in the README. */
export function installSection() {
  const links = clients.filter(({ link }) => link).map(({ name, link }) => `[${name}](${link})`);
  const details = clients.map(
    ({ name, shell, place, language, configure }) => `<details>
<summary>${name}</summary>

${shell ? `${fence("sh", `${shell}\n`)}\nOr in ` : "In "}${place}:

${fence(language, configure(command))}
</details>
`,
  );
  const keyed = withKey.map(({ clients, language, text }) => `${clients}:\n\n${fence(language, text)}`);
  return `One click, if the package is installed (\`npm run pack\`, then \`npm install --global ./tarballs/*.tgz\`): ${links.join(" · ")}

${details.join("\n")}
For the cloud, give the server its key.

${keyed.join("\n")}`;
}

/** A placeholder that an MCP client replaces by a value. */
function variable(name) {
  return `$\{${name}}`;
}

function fence(language, text) {
  return `\`\`\`${language}\n${text}\`\`\`\n`;
}
