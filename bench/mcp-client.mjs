import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const main = fileURLToPath(new URL("../packages/mcp/dist/main.js", import.meta.url));

/**
 * The environment without NODE_EXTRA_CA_CERTS: Node.js reads those certificates at its start, which takes longer than the
 * work that is compared.
 */
const { NODE_EXTRA_CA_CERTS: _, ...environment } = process.env;

/**
 * Starts an MCP server over stdio with a client that does as little as possible, so that the values show the server's
 * cost.
 */
export function startMcp({ command = process.execPath, args = [main], env = {}, cwd } = {}) {
  const child = spawn(command, args, {
    stdio: ["pipe", "pipe", "ignore"],
    env: { ...environment, ...env },
    cwd,
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const waiting = new Map();
  child.stdin.on("error", () => undefined);
  createInterface(child.stdout).on("line", (line) => {
    const { id, result, error } = JSON.parse(line);
    const { resolve, reject } = waiting.get(id) ?? {};
    waiting.delete(id);
    if (error) reject?.(new Error(error.message));
    else resolve?.(result);
  });
  void ended.then((code) => {
    for (const { reject } of waiting.values()) reject(new Error(`ended with ${code} before it answered`));
  });
  let last = 0;
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const request = (method, params = {}) =>
    new Promise((resolve, reject) => {
      last += 1;
      waiting.set(last, { resolve, reject });
      send({ id: last, method, params });
    });
  return {
    pid: child.pid,
    request,
    async initialize() {
      const clientInfo = { name: "bench", version: "0" };
      await request("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
      send({ method: "notifications/initialized" });
    },
    async call(name, args) {
      const result = await request("tools/call", { name, arguments: args });
      if (result.isError) throw new Error(`${name} failed: ${result.content[0].text}`);
      return result;
    },
    async stop() {
      child.stdin.end();
      await ended;
    },
  };
}

/** Starts a bare Node.js that answers one line. No MCP server in Node.js can be faster. */
export function startBareNode() {
  const program = `process.stdin.once("data", () => console.log('{"id":1,"result":{}}')).once("end", () => process.exit())`;
  return startMcp({ args: ["-e", program] });
}
