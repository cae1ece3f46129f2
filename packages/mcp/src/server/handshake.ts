/**
 * What the server answers to `initialize` without any options. It is asked itself, when it is built: in the bundle, the
 * answer stands in for this module.
 */
import { InMemoryTransport, SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/server";
import { profiles } from "../profiles/index.js";
import { Session } from "../session/session.js";
import { SharedBackend } from "../session/shared-backend.js";
import { createServer } from "./mcp-server.js";

/** The answer to a client that speaks one of the versions, without the version. */
export const handshake = await ask();

async function ask() {
  const log = (): void => undefined;
  const session = new Session(new SharedBackend({ environment: {}, log }));
  const [client, transport] = InMemoryTransport.createLinkedPair();
  const server = createServer({ profile: profiles[0], log }, session);
  const answer = new Promise<{ protocolVersion: string }>((resolve) => {
    client.onmessage = (message) => {
      if ("result" in message) resolve(message.result as { protocolVersion: string });
    };
  });
  await Promise.all([client.start(), server.connect(transport)]);
  const params = { protocolVersion: "", capabilities: {}, clientInfo: { name: "build", version: "0" } };
  await client.send({ jsonrpc: "2.0", id: 0, method: "initialize", params });
  const { protocolVersion: latest, ...result } = await answer;
  await server.close();
  return { versions: [...SUPPORTED_PROTOCOL_VERSIONS], latest, result };
}
