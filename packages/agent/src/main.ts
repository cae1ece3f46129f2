import { parseArgs } from "node:util";
import { createAgent } from "./agent.js";
import { parseAgentConfig } from "./agent-config.js";
import { serveAgent } from "./agent-server.js";
import { relayEgress } from "./egress-relay.js";
import { separateFromPrograms } from "./program-identity.js";

const variable = "CLOUD_SANDBOX_AGENT_CONFIG";

/** Milliseconds. */
const warmUpDelay = 40;

async function main(): Promise<void> {
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

main().catch((error: unknown) => {
  console.error(`cloud-sandbox-agent: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
});
