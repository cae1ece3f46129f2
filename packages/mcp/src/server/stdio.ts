/** Serves one client over stdin and stdout, and ends when the client leaves. Only messages of the protocol go to stdout. */
import { once } from "node:events";
import type { Writable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { Session } from "../session/session.js";
import type { SharedBackend } from "../session/shared-backend.js";
import { createServer, type Offer } from "./mcp-server.js";
import { longestMessage, MessageLines, MessageTooLongError } from "./message-lines.js";
import { closeWithinMs, stopSignal, timePasses } from "./stopping.js";

/** Milliseconds without a message after which the backend is loaded in advance, before any call needs them. */
const quietMs = 100;

/**
 * Serves until stdin ends, stdout breaks or a signal asks to stop, and resolves when everything is cleaned up. A
 * message that is too long to be read also ends the connection, and sets the exit code to 1.
 */
export async function serveOverStdio(offer: Offer, backend: SharedBackend): Promise<void> {
  const { log } = offer;
  const session = new Session(backend);
  let isWarm = false;
  // Load what calls need only after the client has read the first answers, because loading takes longer than these.
  const quiet = setTimeout(() => {
    isWarm = true;
    backend.warmUp();
  }, quietMs);
  const lines = new MessageLines({
    onRefused: (answer) => {
      log("a line on stdin is not a JSON-RPC message");
      if (answer !== undefined) process.stdout.write(`${JSON.stringify(answer)}\n`);
    },
    whenWanted: () => {
      if (!isWarm) quiet.refresh();
      return whenRead(process.stdout);
    },
  });
  // `MessageLines` passes whole lines, so the transport never buffers more than one.
  const transport = new StdioServerTransport(process.stdin.pipe(lines), process.stdout, {
    maxBufferSize: longestMessage,
  });
  const connection = serveStdio(() => createServer(offer, session), {
    transport,
    onerror: (error) => {
      if (!(error instanceof MessageTooLongError))
        return log(`a message could not be handled (${error.name})`);
      log(`${error.message}, so the connection ends: send less at a time`);
      process.exitCode = 1;
    },
  });
  const left = Promise.race([whenClosed(transport), whenDeserted()]);
  await Promise.race([left, stopSignal()]);
  await Promise.race([close(), timePasses(closeWithinMs)]);

  async function close(): Promise<void> {
    clearTimeout(quiet);
    await connection.close();
    await session.settled();
    await backend.close();
  }
}

/**
 * Resolves when the client has read most of the output. Waits one turn of the event loop first, so that requests that
 * have just arrived are handled.
 */
async function whenRead(output: Writable): Promise<void> {
  await nextTurn();
  // Ignore errors of stdout here: the transport reports them.
  if (output.writableNeedDrain) await once(output, "drain").catch(() => undefined);
}

/** Resolves when stdin has ended and the client has stopped reading answers. */
async function whenDeserted(): Promise<void> {
  await once(process.stdin, "end");
  for (let isRead = true; isRead; ) {
    const read = once(process.stdout, "drain").then(
      () => true,
      () => false,
    );
    isRead = await Promise.race([read, timePasses(closeWithinMs).then(() => false)]);
  }
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
