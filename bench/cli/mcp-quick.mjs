import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { compare } from "../measure.mjs";
import { testModule } from "../test-module.mjs";
import { cloudSandbox, runCommand } from "./run-command.mjs";

const bareClient = fileURLToPath(new URL("bare-mcp-client.mjs", import.meta.url));
const hello = { name: "echo", arguments: { message: "hello" } };

/**
 * `mcp quick` with a server of the Model Context Protocol project that was installed before, against the same server started and called
 * bare: by this process, which has nothing to load for it, and by a program with the MCP SDK. The server comes from npm, as those do
 * that people use.
 */
export async function benchMcpQuick({ env, settle }) {
  const { startServersBackend } = await testModule("mcp-runner/other-mcp-servers.ts");
  const backend = await startServersBackend();
  try {
    const { apiKey, url } = backend.local;
    const quick = ["mcp", "quick", "mcp-server-everything", hello.name, "--param", "message=hello"];
    const command = [...cloudSandbox, ...quick, "--install-commands", backend.installCommand];
    const remote = { ...env, CLOUD_SANDBOX_API_KEY: apiKey, CLOUD_SANDBOX_BASE_URL: url };
    const server = join(backend.project, "node_modules/.bin/mcp-server-everything");
    const program = [process.execPath, bareClient, server, hello.name, JSON.stringify(hello.arguments)];
    const shared = { rounds: 8, subject: () => runCommand(command, remote, "hello"), settle };
    return [
      await compare({
        name: "cloud-sandbox mcp quick with a server that was installed before, over the same server's bare start and call",
        limit: 3,
        floor: () => calledBare(server, env),
        ...shared,
      }),
      await compare({
        name: "cloud-sandbox mcp quick with a server that was installed before, over a program with the MCP SDK and no sandbox",
        limit: 1.5,
        floor: () => runCommand(program, env, "hello"),
        ...shared,
      }),
    ];
  } finally {
    await backend[Symbol.asyncDispose]();
  }
}

/** Starts a server, waits for its answers to `initialize` and a call, and ends it. */
async function calledBare(program, env) {
  const server = spawn(program, [], { env, stdio: ["pipe", "pipe", "ignore"] });
  const send = (message) => server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const clientInfo = { name: "bench", version: "1" };
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
  send({ id: 1, method: "initialize", params });
  for await (const line of createInterface({ input: server.stdout })) {
    const { id, result } = JSON.parse(line);
    if (id === 1) {
      send({ method: "notifications/initialized" });
      send({ id: 2, method: "tools/call", params: hello });
    } else if (id === 2) {
      if (!JSON.stringify(result).includes("hello")) throw new Error("the server did not echo");
      server.kill();
    }
  }
}
