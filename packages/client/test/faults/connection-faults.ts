import type { Exchange } from "../support/faulty-service.js";
import { head } from "../support/faulty-service.js";
import { broken, type Fault, type FaultGroup, inSandbox, shortLimit, timedOut } from "./fault.js";

const jsonType = { "content-type": "application/json" };
const part = head(200, { ...jsonType, "content-length": "1000" });
const chunked = head(200, { ...jsonType, "transfer-encoding": "chunked" });

/** How much of an answer has been sent when the connection ends. */
const stages: readonly [string, string][] = [
  ["before it answers", ""],
  ["in the status line", "HTTP/1.1 20"],
  ["in its headers", "HTTP/1.1 200 OK\r\ncontent-type: applica"],
  ["after its headers", part],
  ["in a body of known length", `${part}{"id": "a`],
  ["in a chunk", `${chunked}40\r\n{"id": "a`],
  ["between two chunks", `${chunked}9\r\n{"id": "a\r\n`],
];

const ends: readonly [string, (exchange: Exchange) => void][] = [
  ["resets the connection", (exchange) => exchange.reset()],
  ["closes the connection", ({ connection }) => connection.end()],
];

/** Writes `text` and ends the connection a moment later, because a reset discards what is not sent yet. */
function after(exchange: Exchange, text: string, end: (exchange: Exchange) => void): void {
  if (text === "") end(exchange);
  else exchange.connection.write(text, () => setTimeout(() => end(exchange), 20));
}

const drips = (text: string): ((exchange: Exchange) => void) => {
  return (exchange) => {
    exchange.write(text);
    exchange.every(20, () => exchange.write("x"));
  };
};

export const connectionFaults: FaultGroup = {
  title: "Connections",
  faults: [
    {
      fault: "resets every connection at once",
      at: "connection",
      misbehave: (exchange) => exchange.reset(),
      outcome: broken,
      tries: 3,
    },
    ...ends.flatMap(([what, end]) =>
      stages.map(
        ([when, text]): Fault => ({
          fault: `${what} ${when}`,
          misbehave: (exchange) => after(exchange, text, end),
          outcome: broken,
          tries: 3,
        }),
      ),
    ),
    {
      fault: "resets the connection while it runs code",
      ...inSandbox("POST /agent/execute/rich", (sandbox) => sandbox.execute("1")),
      misbehave: (exchange) => exchange.reset(),
      outcome: broken,
    },
    {
      fault: "resets a connection that was kept when it is used again",
      call: async (client) => {
        await client.sandboxes.get("abc");
        // Wait until the client has taken the connection back: it does so a moment after the answer.
        await new Promise(setImmediate);
        await client.sandboxes.get("abc");
      },
      misbehave: (exchange) =>
        exchange.serial === 1 ? exchange.answer(200, { id: "abc", status: "running" }) : exchange.reset(),
      outcome: {},
      tries: 3,
    },
    {
      fault: "sends a chunk that says no length",
      misbehave: (exchange) => exchange.write(`${chunked}no\r\n{}`),
      outcome: broken,
      tries: 3,
    },
    {
      fault: "declares two lengths",
      misbehave: (exchange) =>
        exchange.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}"),
      outcome: broken,
      tries: 3,
    },
    {
      fault: "does not speak HTTP",
      misbehave: (exchange) => exchange.write("SSH-2.0-OpenSSH_9.6\r\n"),
      outcome: broken,
      tries: 3,
    },
    { fault: "never answers", misbehave: () => undefined, ...timedOut() },
    {
      fault: "never answers while it runs code",
      ...inSandbox("POST /agent/execute/rich", (sandbox) =>
        sandbox.execute("1", { requestTimeoutSeconds: shortLimit }),
      ),
      misbehave: () => undefined,
      ...timedOut(),
    },
    {
      fault: "stops in its headers",
      misbehave: (exchange) => exchange.write("HTTP/1.1 200 OK\r\ncontent-"),
      ...timedOut(),
    },
    {
      fault: "stops in its body",
      misbehave: (exchange) => exchange.write(`${part}{"id": "a`),
      ...timedOut(),
    },
    {
      fault: "stops in the body of an error",
      misbehave: (exchange) => exchange.write(head(500, { ...jsonType, "content-length": "1000" })),
      ...timedOut(),
    },
    {
      fault: "sends its headers a byte at a time, for ever",
      misbehave: drips("HTTP/1.1 200 OK\r\nx-long: "),
      ...timedOut(),
    },
    {
      fault: "sends its body a byte at a time, for ever",
      misbehave: drips(`${head(200, { ...jsonType, "content-length": "100000" })}`),
      ...timedOut(),
    },
  ],
};

const upload = (seconds: number): Pick<Fault, "at" | "call"> =>
  inSandbox("POST /agent/files/upload", (sandbox) =>
    sandbox.files.write("/tmp/file", new Uint8Array(8 * 1024 * 1024), { requestTimeoutSeconds: seconds }),
  );
const download = inSandbox("GET /agent/files/download", (sandbox) => sandbox.files.readBytes("/tmp/file"));
const largeFile = head(200, { "content-type": "application/octet-stream", "content-length": "50000000" });

export const transferFaults: FaultGroup = {
  title: "Uploads and downloads",
  faults: [
    {
      fault: "stops reading an upload",
      ...upload(1.5),
      misbehave: ({ connection }) => {
        connection.pause();
        // Read again after the client's time limit: a server that does not read cannot see that the client has gone.
        setTimeout(() => connection.resume(), 1700);
      },
      outcome: { error: "TimeoutError", code: "TIMEOUT", kind: "request" },
    },
    {
      fault: "resets the connection in an upload",
      ...upload(60),
      misbehave: (exchange) => exchange.reset(),
      outcome: broken,
    },
    {
      fault: "refuses an upload before it was sent",
      ...upload(60),
      misbehave: (exchange) =>
        exchange.answer(413, { error: "The file is too large", code: "PAYLOAD_TOO_LARGE" }),
      outcome: { error: "ValidationError", code: "PAYLOAD_TOO_LARGE", status: 413 },
    },
    {
      fault: "resets the connection in a download",
      ...download,
      misbehave: (exchange) =>
        after(exchange, largeFile + "x".repeat(5000), ({ connection }) => connection.resetAndDestroy()),
      outcome: broken,
    },
    {
      fault: "stops in a download",
      ...download,
      misbehave: (exchange) => exchange.write(largeFile),
      ...timedOut("idle"),
    },
  ],
};
