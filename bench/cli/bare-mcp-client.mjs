// Calls a tool of an MCP server without a sandbox, as a program with the MCP SDK does: node bare-mcp-client.mjs <server> <tool> <arguments>
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [command, name, text] = process.argv.slice(2);
const client = new Client({ name: "bench", version: "1" });
const transport = new StdioClientTransport({ command, stderr: "ignore" });
await client.connect(transport);
const result = await client.callTool({ name, arguments: JSON.parse(text) });
console.log(JSON.stringify(result));
// Closing the client would wait for the server to end by itself, which takes this one half a second.
process.kill(transport.pid);
process.exit();
