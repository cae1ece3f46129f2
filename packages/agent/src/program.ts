import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createAgent } from "./agent.js";
import { serveAgent } from "./agent-server.js";
import { parseAgentConfig } from "./config/agent-config.js";
import { separateFromPrograms } from "./machine/program-identity.js";
import { relayEgress } from "./network/egress-relay.js";

const variable = "CLOUD_SANDBOX_AGENT_CONFIG";

/** Milliseconds. */
const warmUpDelay = 40;

/** Serves what the configuration says, until a signal asks for the end. */
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
  if (config.runProgramsAs) separateFromPrograms(config.runProgramsAs);
  const agent = await createAgent(config);
  if (config.egress) relayEgress(config.egress.socket);
  const server = await serveAgent(agent, config.listen);
  // A machine that was waited for has its first request by now, and needs all it has for that.
  setTimeout(() => void agent.warmUp(), warmUpDelay).unref();

  const stop = async () => {
    server.close();
    await agent.close().finally(() => process.exit(0));
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => void stop());
}

/** Starts an agent that serves an empty directory, asks it once how it is, and ends it. */
export async function rehearse(directory: string): Promise<void> {
  const socketPath = join(directory, "socket");
  const publicKey = generateKeyPairSync("ed25519").publicKey.export({ format: "pem", type: "spki" });
  const config = { sandboxId: "rehearsal", publicKey, listen: { socket: socketPath }, roots: [directory] };
  const agent = await createAgent(parseAgentConfig(JSON.stringify(config)));
  const server = await serveAgent(agent, { socket: socketPath });
  const call = request({ socketPath, path: "/health", agent: false }).end();
  const [answer] = (await once(call, "response")) as [IncomingMessage];
  await once(answer.resume(), "end");
  server.close();
  await agent.close();
}
