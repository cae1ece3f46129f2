import { createServer, type Server } from "node:http";
import { fileTunnel } from "@cloud-sandbox/protocol";
import {
  agentEnvelope,
  answerUnreadableRequests,
  ignoreUpgrade,
  upgradeResponse,
} from "@cloud-sandbox/server-kit";
import type { Agent } from "./agent.js";
import type { ListenAddress } from "./config/agent-config.js";

/** Serves an agent over HTTP; resolves when it listens. */
export async function serveAgent(agent: Agent, address: ListenAddress): Promise<Server> {
  const server = createServer((request, response) => void agent.handle(request, response));
  answerUnreadableRequests(server, () => agentEnvelope);
  // Longer than any gateway keeps an idle connection, and as long as an upload may take.
  server.keepAliveTimeout = 75_000;
  server.requestTimeout = 0;
  server.headersTimeout = 60_000;
  server.on("connect", (request, client, head) => void agent.connect(request, client, head));
  server.on("upgrade", (request, connection, head) => {
    const response = () => upgradeResponse(request, connection, head);
    const protocol = request.headers.upgrade?.toLowerCase();
    if (protocol === "websocket") void agent.upgrade(request, response());
    else if (protocol === fileTunnel.protocol) void agent.openFileTunnel(request, response());
    else ignoreUpgrade(server, request, connection, head);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen("socket" in address ? { path: address.socket } : address, resolve);
  });
  return server;
}
