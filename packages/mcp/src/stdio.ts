/** Serves one client over stdin and stdout, and ends when it leaves. Nothing but the protocol goes to stdout. */
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { longestMessage, MessageLines, MessageTooLongError } from "./message-lines.js";
import { createServer, type ServerParts } from "./server.js";

/** A client that closes stdin waits about two seconds before it kills; the backend must be gone by then. */
const closeWithinMs = 1_700;

/**
 * Resolves when stdin ends, stdout breaks or a signal asks to stop, and nothing is left behind. A message that is too
 * long to be read ends the connection too, and sets the exit code to 1.
 */
export async function serveOverStdio(parts: ServerParts): Promise<void> {
  const { session, log } = parts;
  const lines = new MessageLines({
    onIgnored: () => log("a line on stdin is not a JSON-RPC message and was ignored"),
  });
  // Lines come whole: the transport never holds more than one.
  const transport = new StdioServerTransport(process.stdin.pipe(lines), process.stdout, {
    maxBufferSize: longestMessage,
  });
  const connection = serveStdio(() => createServer(parts), {
    transport,
    onerror: (error) => {
      if (!(error instanceof MessageTooLongError))
        return log(`a message could not be handled (${error.name})`);
      log(`${error.message}, so the connection ends: send less at a time`);
      process.exitCode = 1;
    },
  });
  const left = whenClosed(transport);
  // A client that is there already gets its answer first: opening the backend costs more than answering.
  setImmediate(() => session.open());
  await Promise.race([left, stopSignal()]);
  await Promise.race([connection.close().then(() => session.close()), timePasses(closeWithinMs)]);
}

function whenClosed(transport: StdioServerTransport): Promise<void> {
  return new Promise((resolve) => {
    const { onclose } = transport;
    transport.onclose = () => {
      onclose?.();
      resolve();
    };
  });
}

/** A second signal ends the process at once. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => resolve());
  });
}

function timePasses(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
