import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compare } from "../measure.mjs";
import { cloudSandbox, runCommand } from "./run-command.mjs";

const program = readFileSync(new URL("../../test/mcp-runner/server.py", import.meta.url), "utf8");
const installed = "/opt/server.py";

/**
 * `mcp quick` with a server that was installed before, against the same server started and called bare. The server is a short
 * Python program: one from npm takes several times as long to start on both sides.
 */
export async function benchMcpQuick({ directory, env, settle }) {
  const bare = join(directory, "server.py");
  writeFileSync(bare, program);
  const messages = [
    {
      id: 1,
      method: "initialize",
      params: {
        protocolVersion: "2025-06-18",
        capabilities: {},
        clientInfo: { name: "bench", version: "1" },
      },
    },
    { method: "notifications/initialized" },
    { id: 2, method: "tools/call", params: { name: "echo", arguments: { text: "hello" } } },
  ];
  const lines = messages.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`).join("");
  const quick = [
    ...[...cloudSandbox, "mcp", "quick", `python3 ${installed}`, "echo", "--param", "text=hello"],
    ...["--install-commands", `cat > ${installed} <<'END'\n${program}\nEND`],
  ];
  return compare({
    name: "cloud-sandbox mcp quick with a server that was installed before, over the same server's bare start and call",
    limit: 1.5,
    rounds: 8,
    floor: () => runCommand(["python3", bare], env, "hello", lines),
    subject: () => runCommand(quick, env, "hello"),
    settle,
  });
}
