import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { agentEnvelope, Problem } from "@cloud-sandbox/protocol/server";
import type { TokenVerifier } from "../token-verifier.js";
import type { FileArchive } from "./file-archive.js";
import { endOtherProcesses } from "./processes.js";

/** What only the control plane may ask for; no part of the contract. */
export const snapshotPath = "/internal/snapshot";

/**
 * What a sandbox is while it has no machine: its files, with the agent's own state among them. POST ends every other
 * process and gives them as a tar, PUT takes that into a fresh machine.
 */
export function snapshotHandler(parts: {
  readonly tokens: TokenVerifier;
  readonly archive: FileArchive;
  /** Reads anew what the agent keeps in files. */
  readonly takeUp: () => Promise<void>;
}): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const { tokens, archive, takeUp } = parts;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    await tokens.verifyControlPlane(request.headers.authorization);
    if (request.method === "POST") {
      await endOtherProcesses();
      const files = await archive.save();
      response.writeHead(200, { "content-type": "application/x-tar" });
      await pipeline(files, response);
    } else if (request.method === "PUT") {
      await archive.restore(request);
      await takeUp();
      response.writeHead(200, { "content-type": "application/json" }).end('{"success":true}');
    } else {
      throw new Problem(405, "METHOD_NOT_ALLOWED", "Use POST or PUT.", { headers: { allow: "POST, PUT" } });
    }
  }

  return async (request, response) => {
    try {
      await answer(request, response);
    } catch (error) {
      refuse(response, error);
    }
  };
}

/** Once the head is out, a failure can only be shown by breaking off. */
function refuse(response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const reason = error instanceof Error ? error.message : String(error);
  const problem = error instanceof Problem ? error : new Problem(409, "FILE_OPERATION_FAILED", reason);
  const body = agentEnvelope(problem, { requestId: "", timestamp: new Date().toISOString() });
  response.writeHead(problem.status, { "content-type": "application/json", ...problem.headers });
  response.end(JSON.stringify(body));
}
