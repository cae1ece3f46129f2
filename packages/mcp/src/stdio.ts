/** Serves one client over stdin and stdout, and ends when it leaves. Nothing but the protocol goes to stdout. */
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { createServer, type ServerParts } from "./server.js";

/** A client that closes stdin waits about two seconds before it kills; the backend must be gone by then. */
const closeWithinMs = 1_700;

/** Resolves when stdin ends, stdout breaks or a signal asks to stop, and nothing is left behind. */
export async function serveOverStdio(parts: ServerParts): Promise<void> {
  const { session, log } = parts;
  const transport = new StdioServerTransport();
  const connection = serveStdio(() => createServer(parts), {
    transport,
    onerror: (error) => log(`a message could not be handled (${error.name})`),
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
