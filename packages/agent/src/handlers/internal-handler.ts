import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { agentEnvelope, Problem } from "@cloud-sandbox/server-kit";
import type { TokenVerifier } from "../access/token-verifier.js";
import type { FileArchive } from "../snapshot/file-archive.js";
import { type FileReader, fileOperations } from "../snapshot/file-reader.js";
import { endOtherProcesses } from "../snapshot/processes.js";

/** Path prefix of operations that only the control plane may use. They are not part of the public contract. */
export const internalPath = "/internal/";

/**
 * Serves the operations for the control plane. `POST /internal/program` runs a program without a context, and streams its
 * output and its result. An agent that is the only tenant of its machine also serves those that stop a sandbox and restore
 * it in a new machine: `DELETE /internal/processes` ends all other processes; `POST /internal/snapshot` returns the files,
 * with the agent's own state, as a tar stream, and with `/live` also while processes run; `PUT /internal/snapshot` unpacks
 * such a stream into a fresh machine, or directories of another one, as in `?home=home/sandbox`. `POST /internal/files/…` reads files
 * for comparisons; see {@link FileReader}.
 */
export function internalHandler(parts: {
  readonly tokens: TokenVerifier;
  readonly archive: FileArchive;
  readonly files: FileReader;
  readonly ownsMachine: boolean;
  /** Runs the program of a request and streams its output and result. Throws a problem if the program cannot be run. */
  readonly streamProgram: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  /** Whether no program started by the agent is running. */
  readonly isIdle: () => boolean;
  /** Reloads the state that the agent keeps in files. */
  readonly reloadState: () => Promise<void>;
}): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const { tokens, archive, files, ownsMachine, isIdle, reloadState, streamProgram } = parts;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    await tokens.verifyControlPlane(request.headers.authorization);
    const operation = `${request.method} ${request.url}`;
    if (operation === "POST /internal/program") {
      await streamProgram(request, response);
    } else if (!ownsMachine) {
      throw notServed();
    } else if (operation === "DELETE /internal/processes") {
      await endOtherProcesses(isIdle);
      succeed(response);
    } else if (operation === "POST /internal/snapshot" || operation === "POST /internal/snapshot/live") {
      const saved = await archive.save({ isLive: operation.endsWith("/live") });
      response.writeHead(200, { "content-type": "application/x-tar" });
      await pipeline(saved, response);
    } else if (/^PUT \/internal\/snapshot(\?|$)/.test(operation)) {
      const { searchParams } = new URL(request.url ?? "", "http://agent");
      await archive.restore(request, [...searchParams]);
      await reloadState();
      succeed(response);
    } else {
      const reading = fileOperations.find((name) => operation === `POST /internal/files/${name}`);
      if (!reading) throw notServed();
      await pipeline(files.read(reading, request), response);
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

const notServed = () =>
  new Problem(
    404,
    "NOT_FOUND",
    "This agent has no such internal operation. The control plane and the agent may be of different versions.",
  );

function succeed(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "application/json" }).end('{"success":true}');
}

/** Sends an error. If the response has already started, its connection is cut instead. */
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
