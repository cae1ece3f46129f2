import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { tokenIssuer } from "@cloud-sandbox/protocol";
import { SignJWT } from "jose";
import { EarlySocket } from "./access/early-socket.js";
import { createAgent } from "./agent.js";
import { serveAgent } from "./agent-server.js";
import { parseAgentConfig } from "./config/agent-config.js";
import { separateFromPrograms } from "./machine/program-identity.js";
import { relayEgress } from "./network/egress-relay.js";

const variable = "CLOUD_SANDBOX_AGENT_CONFIG";

/** Milliseconds from the start until the agent warms up. */
const warmUpDelay = 40;

/** Runs the agent until SIGTERM or SIGINT. Exits with 1 if it cannot be started. */
export async function run(): Promise<void> {
  await serve().catch((error: unknown) => {
    console.error(`cloud-sandbox-agent: ${error instanceof Error ? error.message : String(error)}`);
    process.exit(1);
  });
}

async function serve(): Promise<void> {
  const { values } = parseArgs({ options: { config: { type: "string" } } });
  const config = parseAgentConfig(values.config ?? process.env[variable]);
  delete process.env[variable];
  // First of all, while the agent may still write to the socket's directory.
  const listening = "socket" in config.listen ? await EarlySocket.open(config.listen.socket) : undefined;
  if (config.runProgramsAs) separateFromPrograms(config.runProgramsAs);
  const agent = await createAgent(config);
  if (config.egress) relayEgress(config.egress.socket);
  const server = await serveAgent(agent, listening ?? config.listen);
  // If a caller was waiting for this machine, its first request has arrived by now; warming up earlier would slow
  // that down.
  setTimeout(() => void agent.warmUp(), warmUpDelay).unref();

  // Whatever code in the sandbox has caused, the agent goes on.
  process.on("unhandledRejection", (reason) => console.error("cloud-sandbox-agent:", reason));

  const stop = async () => {
    server.close();
    await agent.close().finally(() => process.exit(0));
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => void stop());
}

/**
 * Starts an agent in an empty directory, sends it one /health request, runs one command over a WebSocket, and stops it, so
 * that V8 compiles the code that a start and a first command need.
 */
export async function warmUp(directory: string): Promise<void> {
  const sandboxId = "warm-up";
  const socketPath = join(directory, "socket");
  const keys = generateKeyPairSync("ed25519");
  const publicKey = keys.publicKey.export({ format: "pem", type: "spki" });
  const config = { sandboxId, publicKey, listen: { socket: socketPath }, roots: [directory] };
  const agent = await createAgent(parseAgentConfig(JSON.stringify(config)));
  const server = await serveAgent(agent, { socket: socketPath });
  const call = request({ socketPath, path: "/health", agent: false }).end();
  const [answer] = (await once(call, "response")) as [IncomingMessage];
  await once(answer.resume(), "end");
  const token = await new SignJWT()
    .setProtectedHeader({ alg: "EdDSA" })
    .setIssuer(tokenIssuer)
    .setSubject(sandboxId)
    .setExpirationTime("1m")
    .sign(keys.privateKey);
  const headers = { authorization: `Bearer ${token}` };
  const { WebSocket } = await import("ws");
  const stream = new WebSocket(`ws+unix:${socketPath}:/commands/stream`, { headers });
  stream.once("open", () => stream.send(JSON.stringify({ command: "true" })));
  await once(stream, "close");
  server.close();
  await agent.close();
}
