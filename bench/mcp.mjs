import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { compare } from "./measure.mjs";

const main = fileURLToPath(new URL("../packages/mcp/dist/main.js", import.meta.url));
const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "0" } },
};

/** From the spawn of the MCP server to its first answer, against a Node.js program that answers one line. */
export async function benchMcp() {
  return [
    await compare({
      name: "MCP server, spawn to the first answer, over a bare Node.js start",
      limit: 3,
      rounds: 15,
      floor: () =>
        firstAnswer(["-e", 'process.stdin.once("data", () => { console.log("{}"); process.exit(); })']),
      subject: () => firstAnswer([main]),
      settle: () => new Promise((resolve) => setTimeout(resolve, 300)),
    }),
  ];
}

function firstAnswer(args) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "ignore"] });
    child.on("error", reject);
    child.stdout.once("data", (line) => {
      child.stdin.end();
      resolve(line);
    });
    child.on("exit", (code) => reject(new Error(`ended with ${code} before it answered`)));
    child.stdin.on("error", reject);
    child.stdin.write(`${JSON.stringify(initialize)}\n`);
  });
}
